package errorpages

import (
	"strconv"

	"weir/internal/model"
)

// texts has the reason and the sentence of each page. Scripts look for these
// words, so they are the reference's.
var texts = [...]struct {
	status           int
	reason, sentence string
}{
	{200, "OK", "Service ready."},
	{400, "Bad request", "Your browser sent an invalid request."},
	{401, "Unauthorized", "You need a valid user and password to access this content."},
	{403, "Forbidden", "Request forbidden by administrative rules."},
	{404, "Not Found", "The resource could not be found."},
	{405, "Method Not Allowed", "A request was made of a resource using a request method not supported by that resource."},
	{407, "Unauthorized", "You need a valid user and password to access this content."},
	{408, "Request Time-out", "Your browser didn't send a complete request in time."},
	{410, "Gone", "The resource is no longer available and will not be available again."},
	{413, "Payload Too Large", "The request entity exceeds the maximum allowed."},
	{414, "URI Too Long", "The URI provided was too long for the server to process."},
	{421, "Misdirected Request", "Request sent to a non-authoritative server."},
	{422, "Unprocessable Content", "The server cannot process the contained instructions."},
	{425, "Too Early", "Your browser sent early data."},
	{429, "Too Many Requests", "You have sent too many requests in a given amount of time."},
	{431, "Request Header Fields Too Large", "Request Header Fields Too Large."},
	{500, "Internal Server Error", "An internal server error occurred."},
	{501, "Not Implemented", "The server does not support the functionality required to fulfill the request."},
	{502, "Bad Gateway", "The server returned an invalid or incomplete response."},
	{503, "Service Unavailable", "No server is available to handle this request."},
	{504, "Gateway Time-out", "The server didn't respond in time."},
}

// builtins are the built-in pages by status; nothing changes them.
var builtins = func() map[int]*model.ErrorPage {
	m := make(map[int]*model.ErrorPage, len(texts))
	for _, t := range texts {
		m[t.status] = &model.ErrorPage{
			Status: t.status, Code: t.status, Reason: t.reason,
			Fields: [][2]string{{"cache-control", "no-cache"}, {"content-type", "text/html"}},
			Body: []byte("<html><body><h1>" + strconv.Itoa(t.status) + " " + t.reason + "</h1>\n" +
				t.sentence + "\n</body></html>\n"),
			Close: t.status == 400 || t.status == 408,
		}
	}
	return m
}()
