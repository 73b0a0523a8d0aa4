package h1

import (
	"bytes"
	"strconv"
	"testing"

	"weir/internal/wire/h1/corpus"
	"weir/internal/wire/msg"
)

// relay is the smallest proxy that can be made of the codec: it reads all
// messages of in, and returns the status that the client sees and the bytes
// that the other side gets.
type relay struct {
	o   Options
	out []byte
}

// requests relays what a client sends.
func (r *relay) requests(in []byte) string {
	status := "-"
	for len(in) > 0 {
		var p Parser
		m := new(msg.Message)
		n, err := p.ParseRequest(in, m, &r.o)
		if err != nil {
			return first(status, strconv.Itoa(err.Status))
		}
		if n == 0 {
			return status
		}
		in = in[n:]
		mark := len(r.out)
		head, e := AppendRequest(r.out, m, &EncodeOptions{Conn: RequestConn(m, true)})
		if e != nil {
			return first(status, "500")
		}
		r.out = head
		n, err = r.body(in, m, m.Framing)
		if err != nil {
			r.out = r.out[:mark]
			return first(status, strconv.Itoa(err.Status))
		}
		if n < 0 {
			return status
		}
		in = in[n:]
		status = first(status, "200")
		if !m.KeepAlive {
			return status
		}
	}
	return status
}

func first(a, b string) string {
	if a == "-" {
		return b
	}
	return a
}

// answers relays what a server sends in answer to req.
func (r *relay) answers(in, req []byte) string {
	var p Parser
	q, m := new(msg.Message), new(msg.Message)
	if n, err := p.ParseRequest(req, q, nil); err != nil || n == 0 {
		return "bad request"
	}
	status := "-"
	for {
		n, err := p.ParseResponse(in, m, q.Method, &r.o)
		if err != nil || n == 0 || m.Status == 101 && !SwitchOK(q, m, r.o.Unsafe) {
			r.out = nil
			return "502"
		}
		in = in[n:]
		status = first(status, strconv.Itoa(m.Status))
		keep := q.KeepAlive && !(MustClose(m) && !m.AtLeast11())
		head, e := AppendResponse(r.out, m, &EncodeOptions{Conn: ResponseConn(m, keep), Peer10: !q.AtLeast11()})
		if e != nil {
			r.out = nil
			return "500"
		}
		r.out = head
		if m.Status/100 == 1 && m.Status != 101 {
			continue
		}
		if _, err := r.body(in, m, m.Framing); err != nil {
			return "502"
		}
		return status
	}
}

// body relays a body, a chunked one as a single chunk.
func (r *relay) body(in []byte, m *msg.Message, f msg.Framing) (int, *Error) {
	switch f {
	case msg.Length:
		n := min(int(m.ContentLength), len(in))
		r.out = append(r.out, in[:n]...)
		return n, nil
	case msg.UntilClose, msg.Tunnel:
		r.out = append(r.out, in...)
		return len(in), nil
	case msg.Chunked:
		var d ChunkDecoder
		var data []byte
		d.Reset(nil)
		used := 0
		for {
			pc, err := d.Next(in[used:], m)
			if err != nil {
				return 0, err
			}
			data = append(data, pc.Data...)
			used += pc.Used
			if pc.Done {
				break
			}
			if pc.Used == 0 {
				return -1, nil // incomplete
			}
		}
		if len(data) > 0 {
			r.out = AppendChunkHeader(r.out, len(data))
			r.out = append(append(r.out, data...), ChunkEnd...)
		}
		r.out = AppendLastChunk(r.out, m, &EncodeOptions{})
		return used, nil
	}
	return 0, nil
}

func run(c *corpus.Case) (status string, out []byte) {
	r := relay{o: Options{Unsafe: c.Unsafe}}
	if c.Answers {
		status = r.answers(c.In, c.Req)
	} else {
		status = r.requests(c.In)
	}
	return status, r.out
}

func load(t testing.TB) []corpus.Case {
	t.Helper()
	cases, err := corpus.Load("testdata")
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

func TestCorpus(t *testing.T) {
	cases := load(t)
	if len(cases) < 150 {
		t.Errorf("only %d cases", len(cases))
	}
	for i := range cases {
		c := &cases[i]
		status, out := run(c)
		if status != c.Want || !bytes.Equal(out, c.Out) {
			t.Errorf("%s:%d: %s\n in   %.300q\n got  %s %.300q\n want %s %.300q", c.File, c.Line, c.Name, c.In, status, out, c.Want, c.Out)
		}
		if (c.Ref != "") != (c.Why != "") && c.Old == "" {
			t.Errorf("%s:%d: a difference from the reference needs a reason, and only that", c.File, c.Line)
		}
	}
}
