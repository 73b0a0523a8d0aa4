package errorpages

import (
	"weir/internal/base/ascii"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

// AppendHTTP1 appends a page as a whole HTTP/1 response, as it answers what
// never became a request: the connection is closed after it whatever the page
// says, since nothing that follows can be trusted. An empty page appends nothing.
func AppendHTTP1(dst []byte, p *model.ErrorPage) []byte {
	if p.Empty {
		return dst
	}
	version := "HTTP/1.1 "
	if p.HTTP10 {
		version = "HTTP/1.0 "
	}
	dst = append(dst, version...)
	dst = ascii.AppendUint(dst, uint64(p.Code))
	dst = append(append(dst, ' '), Reason(p)...)
	dst = append(dst, "\r\n"...)
	closed := !p.Close
	for i, f := range p.Fields {
		if i == p.LengthAt {
			dst = appendLength(dst, p)
		}
		if !closed && f[0] == "content-type" { // the place that the reference gives it
			dst, closed = appendField(dst, "connection", "close"), true
		}
		dst = appendField(dst, f[0], f[1])
	}
	if p.LengthAt >= len(p.Fields) {
		dst = appendLength(dst, p)
	}
	if !closed {
		dst = appendField(dst, "connection", "close")
	}
	dst = append(dst, "\r\n"...)
	return append(dst, p.Body...)
}

// Reason is the reason phrase of a page.
func Reason(p *model.ErrorPage) string {
	if p.Reason == "" {
		return msg.ReasonPhrase(p.Code)
	}
	return p.Reason
}

func appendField(dst []byte, name, value string) []byte {
	dst = append(append(dst, name...), ": "...)
	return append(append(dst, value...), "\r\n"...)
}

func appendLength(dst []byte, p *model.ErrorPage) []byte {
	dst = append(dst, "content-length: "...)
	dst = ascii.AppendUint(dst, uint64(len(p.Body)))
	return append(dst, "\r\n"...)
}
