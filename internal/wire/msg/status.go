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

// reasons are the phrases of the statuses, from 100 on.
var reasons = [500]string{
	0:   "Continue",
	3:   "Early Hints",
	1:   "Switching Protocols",
	2:   "Processing",
	100: "OK",
	101: "Created",
	102: "Accepted",
	103: "Non-Authoritative Information",
	104: "No Content",
	105: "Reset Content",
	106: "Partial Content",
	107: "Multi-Status",
	110: "Content Different",
	126: "IM Used",
	200: "Multiple Choices",
	201: "Moved Permanently",
	202: "Found",
	203: "See Other",
	204: "Not Modified",
	205: "Use Proxy",
	207: "Temporary Redirect",
	208: "Permanent Redirect",
	210: "Too many Redirects",
	300: "Bad Request",
	301: "Unauthorized",
	302: "Payment Required",
	303: "Forbidden",
	304: "Not Found",
	305: "Method Not Allowed",
	306: "Not Acceptable",
	307: "Proxy Authentication Required",
	308: "Request Time-out",
	309: "Conflict",
	310: "Gone",
	311: "Length Required",
	312: "Precondition Failed",
	313: "Request Entity Too Large",
	314: "Request-URI Too Long",
	315: "Unsupported Media Type",
	316: "Requested range unsatisfiable",
	317: "Expectation failed",
	318: "I'm a teapot",
	321: "Misdirected Request",
	322: "Unprocessable Content",
	323: "Locked",
	324: "Method failure",
	325: "Too Early",
	326: "Upgrade Required",
	328: "Precondition Required",
	329: "Too Many Requests",
	331: "Request Header Fields Too Large",
	349: "Retry With",
	350: "Blocked by Windows Parental Controls",
	351: "Unavailable For Legal Reasons",
	356: "Unrecoverable Error",
	399: "client has closed connection",
	400: "Internal Server Error",
	401: "Not Implemented",
	402: "Bad Gateway or Proxy Error",
	403: "Service Unavailable",
	404: "Gateway Time-out",
	405: "HTTP Version not supported",
	406: "Variant also negotiate",
	407: "Insufficient storage",
	408: "Loop detected",
	409: "Bandwidth Limit Exceeded",
	410: "Not extended",
	411: "Network authentication required",
	420: "Web server is returning an unknown error",
}
