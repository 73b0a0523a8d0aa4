package msg

// ReasonPhrase returns the usual reason phrase of a status code. Codes without
// one get the name of their class, and "Other" outside the classes, like the
// reference.
func ReasonPhrase(status int) string {
	if status >= 100 && status < 600 {
		if s := reasons[status-100]; s != "" {
			return s
		}
		return classReasons[status/100-1]
	}
	return "Other"
}

var classReasons = [...]string{"Informational", "Success", "Redirection", "Client Error", "Server Error"}

var reasons = [500]string{
	100 - 100: "Continue",
	101 - 100: "Switching Protocols",
	102 - 100: "Processing",
	200 - 100: "OK",
	201 - 100: "Created",
	202 - 100: "Accepted",
	203 - 100: "Non-Authoritative Information",
	204 - 100: "No Content",
	205 - 100: "Reset Content",
	206 - 100: "Partial Content",
	207 - 100: "Multi-Status",
	210 - 100: "Content Different",
	226 - 100: "IM Used",
	300 - 100: "Multiple Choices",
	301 - 100: "Moved Permanently",
	302 - 100: "Found",
	303 - 100: "See Other",
	304 - 100: "Not Modified",
	305 - 100: "Use Proxy",
	307 - 100: "Temporary Redirect",
	308 - 100: "Permanent Redirect",
	310 - 100: "Too many Redirects",
	400 - 100: "Bad Request",
	401 - 100: "Unauthorized",
	402 - 100: "Payment Required",
	403 - 100: "Forbidden",
	404 - 100: "Not Found",
	405 - 100: "Method Not Allowed",
	406 - 100: "Not Acceptable",
	407 - 100: "Proxy Authentication Required",
	408 - 100: "Request Time-out",
	409 - 100: "Conflict",
	410 - 100: "Gone",
	411 - 100: "Length Required",
	412 - 100: "Precondition Failed",
	413 - 100: "Request Entity Too Large",
	414 - 100: "Request-URI Too Long",
	415 - 100: "Unsupported Media Type",
	416 - 100: "Requested range unsatisfiable",
	417 - 100: "Expectation failed",
	418 - 100: "I'm a teapot",
	421 - 100: "Misdirected Request",
	422 - 100: "Unprocessable Content",
	423 - 100: "Locked",
	424 - 100: "Method failure",
	425 - 100: "Too Early",
	426 - 100: "Upgrade Required",
	428 - 100: "Precondition Required",
	429 - 100: "Too Many Requests",
	431 - 100: "Request Header Fields Too Large",
	449 - 100: "Retry With",
	450 - 100: "Blocked by Windows Parental Controls",
	451 - 100: "Unavailable For Legal Reasons",
	456 - 100: "Unrecoverable Error",
	499 - 100: "client has closed connection",
	500 - 100: "Internal Server Error",
	501 - 100: "Not Implemented",
	502 - 100: "Bad Gateway or Proxy Error",
	503 - 100: "Service Unavailable",
	504 - 100: "Gateway Time-out",
	505 - 100: "HTTP Version not supported",
	506 - 100: "Variant also negotiate",
	507 - 100: "Insufficient storage",
	508 - 100: "Loop detected",
	509 - 100: "Bandwidth Limit Exceeded",
	510 - 100: "Not extended",
	511 - 100: "Network authentication required",
	520 - 100: "Web server is returning an unknown error",
}
