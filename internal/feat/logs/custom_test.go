package logs

import (
	"net"
	"strings"
	"testing"

	"weir/internal/lang/logfmt"
	expr "weir/internal/lang/sample"
	"weir/internal/model"
	"weir/internal/wire/syslog"
)

func format(t testing.TB, text string) model.LineFormat {
	t.Helper()
	if text == "" {
		return nil
	}
	f, err := logfmt.Parse(&expr.Scope{}, text, logfmt.Options{Use: logfmt.ForLog})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// on makes a profile from lines "step [drop] [format <word>] [sd <word>]" and "log-tag <word>".
func on(t *testing.T, lines ...string) *model.LogProfile {
	t.Helper()
	p := &model.LogProfile{Name: "p"}
	for _, l := range lines {
		w := strings.Fields(l)
		if w[0] == "log-tag" {
			p.Tag = w[1]
			continue
		}
		step, ok := model.LogStepByName(w[0])
		if !ok {
			t.Fatal(l)
		}
		o := new(model.LogOverride)
		for i := 1; i < len(w); i++ {
			switch w[i] {
			case "drop":
				o.Drop = true
			case "format":
				o.Text = format(t, w[i+1])
				i++
			case "sd":
				o.SD = format(t, w[i+1])
				i++
			}
		}
		p.On[step] = o
	}
	return p
}

func bad(r *model.LogRecord) {
	r.BadRequest, r.Status, r.Backend, r.ServerName = true, 400, "f", ""
}

func killed(r *model.LogRecord) {
	r.ErrorMessage, r.BindName = "Connection closed", "1"
}

// TestCustomLines has what the reference wrote for the same settings and events.
func TestCustomLines(t *testing.T) {
	const httpLine, killedLine = tail + "/ HTTP/1.1\"\n", "f/1: Connection closed\n"
	at := func(step string) func(*model.LogRecord) { return func(r *model.LogRecord) { r.Step = step } }
	for _, c := range []struct {
		name            string
		text, sd, error string   // formats of the section
		builtin         string   // "http" or "default"
		profile         []string // nil: none
		event           func(*model.LogRecord)
		want            string // end of the line; "": no line
	}{
		{name: "format", text: "N %OG", want: "- - N txn_close\n"},
		{name: "any", text: "N", profile: []string{"any format A-%OG"}, want: "- - A-txn_close\n"},
		{name: "close before any", text: "N", profile: []string{"close format C-%OG", "any format A"}, want: "- - C-txn_close\n"},
		{name: "any's data are not mixed in", text: "N", profile: []string{"close format C", "any sd [A]"}, want: "- - C\n"},
		{name: "data only", text: "N %B", profile: []string{"close sd [S-%OG]", "any format A"}, want: " - [S-txn_close] N 0\n"},
		{name: "section's data under a profile's format", text: "N", sd: "[P %OG]", profile: []string{"close format X"}, want: " - [P txn_close] X\n"},
		{name: "any drop, close data", text: "N", profile: []string{"any drop", "close sd [S]"}, want: " - [S] N\n"},
		{name: "close drop", text: "N", profile: []string{"close drop", "any format A"}},
		{name: "error", text: "N", profile: []string{"error format E-%OG"}, event: bad, want: "- - E-sess_error\n"},
		{name: "any on error", text: "N", error: "X", profile: []string{"any format A-%OG"}, event: bad, want: "- - A-sess_error\n"},
		{name: "error data", text: "N", error: "E-%OG", profile: []string{"error sd [S]"}, event: bad, want: " - [S] E-sess_error\n"},
		{name: "error drop", text: "N", profile: []string{"error drop"}, event: bad},
		{name: "bad request in the section's format", text: "N %OG", sd: "[P]", event: bad, want: " - [P] N sess_error\n"},
		{name: "bad request in the error format", text: "N", sd: "[P]", error: "E", event: bad, want: " - [P] E\n"},
		{name: "killed without an error format", text: "N", event: killed, want: killedLine},
		{name: "killed with one", text: "N", error: "E %OG %ST %r", event: killed, want: "- - E sess_killed 200 GET / HTTP/1.1\n"},
		{name: "default format", builtin: "default", sd: "[x]", profile: []string{"any format A", "accept format B"}, want: "- - Connect from 192.0.2.1:1024 to -:0 (f/HTTP)\n"},
		{name: "default format, bad request", builtin: "default", event: bad},
		{name: "default format, bad request, profile", builtin: "default", profile: []string{"any format A-%OG"}, event: bad, want: "- - A-sess_error\n"},
		{name: "default format, bad request, error format", builtin: "default", error: "E", event: bad, want: "- - E\n"},
		{name: "built-in format with data", builtin: "http", sd: "[x %B]", want: " - [x 0] 192.0.2.1:1024 "},
		{name: "built-in format under a profile", builtin: "http", profile: []string{"close format A-%OG"}, want: "- - A-txn_close\n"},
		{name: "other steps keep the section's format", builtin: "http", profile: []string{"connect format A"}, want: httpLine},
		{name: "step", text: "N", profile: []string{"connect format A-%OG"}, event: at("connect"), want: "- - A-txn_connect\n"},
		{name: "action", text: "N %OG", profile: []string{"http-req format A-%OG"}, event: at("http-req"), want: "- - A-http-req\n"},
		{name: "action without override", text: "N %OG", profile: []string{"close format A"}, event: at("http-res"), want: "- - N http-res\n"},
		{name: "absent data", text: "N", sd: "%hr", want: " - - N\n"},
		{name: "escaped data", text: "N", sd: "%{+Q,+E}o [ex@1 a=%ID b=%f]", want: ` - [ex@1 a="" b="f"] N` + "\n"},
		{name: "empty line", text: "%hr"},
		{name: "tag", text: "N", profile: []string{"log-tag ptag"}, want: " ptag 42 - - N\n"},
	} {
		sock, a := udp(t, "udp4", "127.0.0.1:0")
		lc := to(aim(a, func(m *model.LogTarget) {
			m.Format = "rfc5424"
			if c.profile != nil {
				m.Profile = on(t, c.profile...)
			}
		}))
		switch c.builtin {
		case "":
			lc.Format, lc.Custom = model.LogCustom, format(t, c.text)
		case "default":
			lc.Format = model.LogDefault
		}
		lc.SD, lc.Error = format(t, c.sd), format(t, c.error)
		s := &setup{T: t, fe: &model.Proxy{Name: "f", Log: lc}}
		s.cfg = &model.Config{Global: &model.Global{}, Proxies: []*model.Proxy{s.fe}}
		if p := lc.Targets[0].Profile; p != nil {
			model.LogProfiles.Set(&s.cfg.Slots, map[string]*model.LogProfile{p.Name: p})
		}
		var err error
		if s.g, err = New(Options{Config: s.cfg, Tag: "weir", PID: 42}); err != nil {
			t.Fatal(err)
		}
		s.set = s.g.attach(&s.turn)
		defer s.set.Close()
		r := record("/")
		if c.event != nil {
			c.event(r)
		}
		s.set.For(&s.fe.Log).Emit(r)
		s.end()
		if c.want == "" {
			none(t, sock)
			continue
		}
		if got := next(t, sock); !strings.HasSuffix(got, c.want) && !(c.builtin == "http" && strings.Contains(got, c.want)) {
			t.Errorf("%s:\n got %q\nwant ...%q", c.name, got, c.want)
		}
	}
}

// TestProfilesPerTarget: each target has the line of its profile, and an action may ask for another one.
func TestProfilesPerTarget(t *testing.T) {
	one, two, three := on(t, "any format one"), on(t, "log-tag t2", "any format two"), on(t, "log-tag t3", "any format three-%OG")
	plain, a := udp(t, "udp4", "127.0.0.1:0")
	first, b := udp(t, "udp4", "127.0.0.1:0")
	second, c := udp(t, "udp4", "127.0.0.1:0")
	lc := to(aim(a), aim(b, func(m *model.LogTarget) { m.Profile = one }), aim(c, func(m *model.LogTarget) { m.Profile, m.Format = two, "rfc5424" }))
	lc.Format, lc.Custom = model.LogCustom, format(t, "own")
	s := &setup{T: t, fe: &model.Proxy{Name: "f", Log: lc}}
	s.cfg = &model.Config{Global: &model.Global{}, Proxies: []*model.Proxy{s.fe}}
	model.LogProfiles.Set(&s.cfg.Slots, map[string]*model.LogProfile{"one": one, "two": two, "three": three})
	g, err := New(Options{Config: s.cfg, PID: 42})
	if err != nil {
		t.Fatal(err)
	}
	set := g.attach(&s.turn)
	defer set.Close()
	e := set.For(&s.fe.Log)
	e.Emit(record("/"))
	r := record("/")
	r.Step, r.Profile = "http-req", three
	e.Emit(r)
	e.Message(syslog.Notice, "notice")
	s.end()
	for sock, want := range map[net.PacketConn][]string{
		plain: {"own\n", "three-http-req\n", "notice\n"}, first: {"one\n", "three-http-req\n", "notice\n"},
		second: {" t2 42 - - two\n", " t3 42 - - three-http-req\n", " t2 42 - - notice\n"},
	} {
		for _, w := range want {
			if got := next(t, sock); !strings.HasSuffix(got, w) {
				t.Errorf("got %q, want %q", got, w)
			}
		}
	}
}

// TestLengthWithData: data and text together keep within the length.
func TestLengthWithData(t *testing.T) {
	sock, a := udp(t, "udp4", "127.0.0.1:0")
	lc := to(aim(a, func(m *model.LogTarget) { m.Format, m.Length = "rfc5424", 80 }))
	lc.Format, lc.Custom, lc.SD = model.LogCustom, format(t, strings.Repeat("0123456789", 12)), format(t, "["+strings.Repeat("x", 130)+"]")
	s := build(t, lc, model.LogConfig{})
	s.Emit(record("/"))
	s.end()
	if got := next(t, sock); len(got) != 80 || !strings.HasSuffix(got, "xxx\n") || !strings.Contains(got, " - [xx") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

// TestDroppedLinesAreNotSampled: lines that a profile drops do not count.
func TestDroppedLinesAreNotSampled(t *testing.T) {
	sock, a := udp(t, "udp4", "127.0.0.1:0")
	lc := to(aim(a, func(m *model.LogTarget) {
		m.SampleRanges, m.SampleSize = []model.SampleRange{{Low: 1, High: 1}}, 2
		m.Profile = on(t, "connect drop")
	}))
	s := build(t, lc, model.LogConfig{})
	dropped := record("/dropped")
	dropped.Step = "connect"
	s.Emit(dropped)
	s.Emit(record("/1"))
	s.Emit(dropped)
	s.Emit(record("/2"))
	s.Emit(record("/3"))
	s.end()
	for _, want := range []string{"/1", "/3"} {
		if got := next(t, sock); !strings.Contains(got, " "+want+" ") {
			t.Errorf("got %q, want %s", got, want)
		}
	}
	none(t, sock)
}

func TestCustomEmitAllocatesNothing(t *testing.T) {
	sock, a := udp(t, "udp4", "127.0.0.1:0")
	_ = sock
	lc := to(aim(a, func(m *model.LogTarget) { m.Format = "rfc5424" }), aim(a, func(m *model.LogTarget) {
		m.Format, m.Profile = "rfc5424", on(t, "any format %HM sd [%f]")
	}))
	lc.Format, lc.Custom, lc.SD = model.LogCustom, format(t, logfmt.Variables()["HAPROXY_HTTP_LOG_FMT"]), format(t, "[%ST]")
	s := build(t, lc, model.LogConfig{})
	r := record("/")
	line := func() {
		s.Emit(r)
		s.end()
	}
	line()
	if n := testing.AllocsPerRun(200, line); n != 0 {
		t.Errorf("%v allocations a line", n)
	}
}
