package h1

import (
	"bytes"
	"testing"

	"weir/internal/base/ascii"
	"weir/internal/wire/msg"
)

func seed(f *testing.F, answers bool) {
	f.Helper()
	cases := load(f)
	for i := range cases {
		if c := &cases[i]; c.Answers == answers && len(c.In) < 2000 {
			f.Add(c.In, c.Unsafe)
		}
	}
}

// same reports the first difference between two messages.
func same(a, b *msg.Message) string {
	switch {
	case a.Method != b.Method || !bytes.Equal(a.MethodName, b.MethodName):
		return "method"
	case !bytes.Equal(a.Target, b.Target):
		return "target"
	case a.Status != b.Status:
		return "status"
	case a.AtLeast11() != b.AtLeast11():
		return "version"
	case a.Framing != b.Framing || a.Framing == msg.Length && a.ContentLength != b.ContentLength:
		return "framing"
	case len(a.Fields) != len(b.Fields):
		return "number of fields"
	}
	for i := range a.Fields {
		x, y := &a.Fields[i], &b.Fields[i]
		if !ascii.EqualFold(x.Name, y.Name) {
			return "name of a field"
		}
		if !bytes.Equal(x.Value, y.Value) && !x.Is("transfer-encoding") {
			return "value of a field"
		}
	}
	return ""
}

// drop removes what the encoder may leave out or add.
func drop(m *msg.Message) {
	m.DelFunc(func(f *msg.Field) bool {
		return f.Is("connection") || f.Is("te") || f.Is("content-length") || f.Is("transfer-encoding")
	})
}

// invariants checks one input against the parser, whole and byte by byte, and
// the parser against the encoder. parse and encode are those of requests or
// of answers.
func invariants(t *testing.T, in []byte, o *Options,
	parse func(*Parser, []byte, *msg.Message, *Options) (int, *Error),
	encode func(*msg.Message) ([]byte, error)) {
	keep := bytes.Clone(in)
	var whole, bits Parser
	m, m2 := new(msg.Message), new(msg.Message)
	n, err := parse(&whole, in, m, o)
	if n < 0 || n > len(in) || n > 0 && err != nil {
		t.Fatalf("n=%d err=%v", n, err)
	}
	if err != nil && (err.Kind == 0 || err.Text == "" || err.Status < 400 || err.Offset < 0 || err.Offset > len(in)) {
		t.Fatalf("incomplete error %+v", err)
	}
	var n2 int
	var err2 *Error
	for i := 1; i <= len(in) && n2 == 0 && err2 == nil; i++ {
		n2, err2 = parse(&bits, in[:i], m2, o)
	}
	if err != nil && n2 == 0 && err2 == nil {
		// The head is incomplete: what is wrong may show later, but must show.
		n2, err2 = parse(&bits, append(keep[:len(in):len(in)], "\r\n\r\n"...), m2, o)
	}
	if n != n2 || (err == nil) != (err2 == nil) {
		t.Fatalf("whole: %d %v, byte by byte: %d %v", n, err, n2, err2)
	}
	if !bytes.Equal(in, keep) {
		t.Fatal("the input was written to")
	}
	if n == 0 {
		return
	}
	if d := same(m, m2); d != "" {
		t.Fatalf("byte by byte differs: %s", d)
	}
	if n3, err := parse(&whole, in[:n], m2, o); n3 != n || err != nil {
		t.Fatalf("alone: %d %v", n3, err)
	}
	out, e := encode(m)
	if e != nil {
		t.Fatalf("accepted but not sendable: %v", e)
	}
	big := *o
	big.MaxFields, big.MaxHead, big.MaxRaw = 1<<20, 1<<20, 1<<20
	n4, err := parse(&whole, out, m2, &big)
	if err != nil || n4 != len(out) {
		t.Fatalf("output %q: %d of %d, %v", out, n4, len(out), err)
	}
	if len(m.Target) > len(m2.Target) && m.URI().Form == msg.FormAbsolute {
		return // "a:80:80" loses one port at each hop, as in the reference
	}
	out2, e := encode(m2)
	if e != nil || !bytes.Equal(out, out2) {
		t.Fatalf("encoding is not stable: %q then %q (%v)", out, out2, e)
	}
	m.HTTP09 = false
	drop(m)
	drop(m2)
	if d := same(m, m2); d != "" {
		t.Fatalf("%s changed: %q", d, out)
	}
}

func FuzzRequest(f *testing.F) {
	seed(f, false)
	f.Add([]byte(browser), false)
	f.Fuzz(func(t *testing.T, in []byte, relaxed bool) {
		if len(in) > 20000 {
			return
		}
		o := &Options{Unsafe: relaxed}
		invariants(t, in, o, (*Parser).ParseRequest, func(m *msg.Message) ([]byte, error) {
			return AppendRequest(nil, m, &EncodeOptions{Conn: RequestConn(m, true)})
		})
	})
}

func FuzzResponse(f *testing.F) {
	seed(f, true)
	f.Add([]byte(answer), false)
	f.Fuzz(func(t *testing.T, in []byte, relaxed bool) {
		if len(in) > 20000 {
			return
		}
		for _, method := range []msg.Method{msg.GET, msg.HEAD, msg.CONNECT} {
			parse := func(p *Parser, in []byte, m *msg.Message, o *Options) (int, *Error) {
				return p.ParseResponse(in, m, method, o)
			}
			invariants(t, in, &Options{Unsafe: relaxed}, parse, func(m *msg.Message) ([]byte, error) {
				return AppendResponse(nil, m, &EncodeOptions{Conn: ResponseConn(m, m.KeepAlive)})
			})
		}
	})
}

// decode reads a chunked body fed step bytes at a time.
func decode(in []byte, step int, m *msg.Message) (data []byte, used int, done bool, err *Error) {
	var d ChunkDecoder
	d.Reset(nil)
	for end := min(step, len(in)); ; {
		pc, e := d.Next(in[used:end], m)
		if e != nil {
			return nil, 0, false, e
		}
		data = append(data, pc.Data...)
		used += pc.Used
		switch {
		case pc.Done:
			return data, used, true, nil
		case pc.Used > 0:
		case end == len(in):
			return data, used, false, nil
		default:
			end = min(end+step, len(in))
		}
	}
}

func FuzzChunked(f *testing.F) {
	cases := load(f)
	for i := range cases {
		if _, body, ok := bytes.Cut(cases[i].In, []byte("chunked\r\n\r\n")); ok && len(body) < 2000 {
			f.Add(body)
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > 20000 {
			return
		}
		m, m2 := new(msg.Message), new(msg.Message)
		data, used, done, err := decode(in, len(in)+1, m)
		data2, used2, done2, err2 := decode(in, 1, m2)
		if used != used2 || done != done2 || (err == nil) != (err2 == nil) || !bytes.Equal(data, data2) || len(m.Trailers) != len(m2.Trailers) {
			t.Fatalf("whole: %d %v %v %q, byte by byte: %d %v %v %q", used, done, err, data, used2, done2, err2, data2)
		}
		if !done {
			return
		}
		var out []byte
		if len(data) > 0 {
			out = append(append(AppendChunkHeader(nil, len(data)), data...), ChunkEnd...)
		}
		out = AppendLastChunk(out, m, &EncodeOptions{})
		m3 := new(msg.Message)
		data3, used3, done3, err := decode(out, len(out)+1, m3)
		if err != nil || !done3 || used3 != len(out) || !bytes.Equal(data, data3) {
			t.Fatalf("output %q: %d %v %v", out, used3, done3, err)
		}
		if len(m3.Trailers) > len(m.Trailers) {
			t.Fatal("more trailers than came")
		}
	})
}
