package msg

// Method is a request method. The names of methods are case-sensitive.
type Method uint8

// Methods that the program knows by heart; any other token is MethodOther.
const (
	MethodOther Method = iota
	GET
	HEAD
	POST
	PUT
	DELETE
	OPTIONS
	TRACE
	CONNECT
	PATCH
)

var methodNames = [...]string{"", "GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH"}

// String returns the name of a known method, or an empty string.
func (k Method) String() string { return methodNames[k] }

// LookupMethod finds a method by its exact name.
func LookupMethod(name []byte) Method {
	switch string(name) {
	case "GET":
		return GET
	case "HEAD":
		return HEAD
	case "POST":
		return POST
	case "PUT":
		return PUT
	case "DELETE":
		return DELETE
	case "OPTIONS":
		return OPTIONS
	case "TRACE":
		return TRACE
	case "CONNECT":
		return CONNECT
	case "PATCH":
		return PATCH
	}
	return MethodOther
}

// SetMethod changes the method of a request.
func (m *Message) SetMethod(name []byte) {
	m.MethodName = m.arena.copy(name)
	m.Method = LookupMethod(name)
}

// SetStatus changes the status of an answer (100-999) and gives it the usual
// reason phrase.
func (m *Message) SetStatus(status int) {
	m.Status = status
	m.Reason = m.arena.copyString(ReasonPhrase(status))
}

// SetReason changes the reason phrase only.
func (m *Message) SetReason(reason []byte) { m.Reason = m.arena.copy(reason) }
