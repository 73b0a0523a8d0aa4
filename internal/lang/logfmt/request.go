package logfmt

import (
	"bytes"

	"weir/internal/model"
)

// The request line that logs show is method, URI and version, of which at most
// tune.http.logurilen-1 bytes are kept; what aliases show is a part of that.

// room is how much of the request line is kept, in bytes.
func (f *Format) room() int {
	if f.global == nil || f.global.Tune.HTTPLogURI <= 0 {
		return model.DefaultLogURI - 1
	}
	return f.global.Tune.HTTPLogURI - 1
}

// noRequest reports whether there is no request to show.
func noRequest(r *model.LogRecord) bool { return r.BadRequest || len(r.Method) == 0 }

var noRequestText = value{form: formPieces, s: BadRequest}

// request gives a part of the request.
func request(s source, part func() []byte) value {
	if noRequest(s.r) {
		return noRequestText
	}
	return value{form: formURI, b: part()}
}

func (s source) method() []byte { return s.r.Method[:min(len(s.r.Method), s.f.room())] }

func (s source) uri() []byte {
	room := s.f.room() - len(s.r.Method) - 1
	return s.r.URI[:min(len(s.r.URI), max(room, 0))]
}

// uriPath is the URI up to its query.
func (s source) uriPath() []byte {
	u := s.uri()
	if i := bytes.IndexByte(u, '?'); i >= 0 {
		return u[:i]
	}
	return u
}

// path is the URI without scheme, authority and query; empty for "*" and an authority alone.
func (s source) path() []byte {
	u := s.uriPath()
	if len(u) > 0 && u[0] == '/' {
		return u
	}
	i := bytes.Index(u, []byte("://"))
	if i < 0 {
		return nil
	}
	u = u[i+3:]
	if i = bytes.IndexByte(u, '/'); i < 0 {
		return nil
	}
	return u[i:]
}

// query is the URI's query with the question mark, empty without one.
func (s source) query() []byte {
	u := s.uri()
	if i := bytes.IndexByte(u, '?'); i >= 0 {
		return u[i:]
	}
	return nil
}

// versions are the names of all versions.
var versions = func() (t [10][10]string) {
	for i := range t {
		for j := range t[i] {
			t[i][j] = "HTTP/" + string([]byte{byte('0' + i), '.', byte('0' + j)})
		}
	}
	return t
}()

// cutVersion is what the room leaves of the version.
func (s source) cutVersion() string {
	v := versions[s.r.Version[0]%10][s.r.Version[1]%10]
	room := s.f.room() - len(s.r.Method) - 1 - len(s.r.URI) - 1
	return v[:min(len(v), max(room, 0))]
}

func version(s source) value {
	if noRequest(s.r) {
		return noRequestText
	}
	v := s.cutVersion()
	if v == "" { // as a request line without one
		v = "HTTP/0.9"
	}
	return value{form: formPieces, s: v}
}

func requestLine(s source) value {
	if noRequest(s.r) {
		return noRequestText
	}
	return value{form: formRequest}
}
