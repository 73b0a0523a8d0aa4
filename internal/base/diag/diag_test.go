package diag

import (
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	var l List
	pos := Position{File: "a.cfg", Line: 3, Text: "\t bind :80x # é", Col: 7, End: 11}
	l.Noticef(Position{}, "first")
	l.Diagf(pos, "hidden unless asked")
	l.Warnf(pos, "some %s", "warning")
	l.Alertf(pos, "an error\nin two\x1b lines")
	l.Add(Message{Severity: Alert, Pos: pos, Text: "with a caret:", Caret: true})
	l.Add(Message{Severity: Alert, Bare: true, Text: "Bare."})
	for _, c := range []struct {
		f    Format
		want string
	}{
		{Format{PID: 12, Quiet: true}, ""},
		{Format{PID: 12, Preamble: []string{"weir"}}, `[NOTICE]   (12) : config : first
[NOTICE]   (12) : weir
[WARNING]  (12) : config : parsing [a.cfg:3] : some warning
[ALERT]    (12) : config : parsing [a.cfg:3] : an error?in two? lines
[ALERT]    (12) : config : parsing [a.cfg:3] : with a caret:
  bind :80x # é
       ^
[ALERT]    (12) : Bare.
`},
		{Format{PID: 1, Diag: true, Terminal: true}, `[NOTICE]   (1) : config : first
[DIAG]     (1) : config : parsing [a.cfg:3] : hidden unless asked
  bind :80x # é
       ^~~~
[WARNING]  (1) : config : parsing [a.cfg:3] : some warning
  bind :80x # é
       ^~~~
[ALERT]    (1) : config : parsing [a.cfg:3] : an error?in two? lines
  bind :80x # é
       ^~~~
[ALERT]    (1) : config : parsing [a.cfg:3] : with a caret:
  bind :80x # é
       ^
[ALERT]    (1) : Bare.
`},
	} {
		var b strings.Builder
		if err := l.Write(&b, c.f); err != nil || b.String() != c.want {
			t.Errorf("%+v: %v\n%s\nwant\n%s", c.f, err, b.String(), c.want)
		}
	}
	if l.Errors() != 3 || l.Warnings() != 1 || l.Err() == nil || !strings.Contains(l.Err().Error(), "2 more") {
		t.Errorf("Errors %d, Warnings %d, Err %v", l.Errors(), l.Warnings(), l.Err())
	}
}

func TestExcerptOfLongLine(t *testing.T) {
	text := strings.Repeat("é", 300) + " word " + strings.Repeat("x", 300)
	p := Position{Text: text, Col: 601, End: 605}
	lines := strings.Split(excerpt(p, true), "\n")
	if len(lines) != 3 || len(lines[0]) > 2*maxExcerpt || !strings.HasPrefix(lines[0], "  ...") || !strings.HasSuffix(lines[0], "...") {
		t.Fatalf("excerpt: %q", lines)
	}
	i := strings.Index(lines[1], "^~~~")
	if got := string([]rune(lines[0])[i : i+4]); got != "word" {
		t.Errorf("marks %q\n%s\n%s", got, lines[0], lines[1])
	}
	for col := -1; col < len(text)+2; col++ { // any range is safe
		excerpt(Position{Text: text, Col: col, End: col + 3}, col%2 == 0)
	}
}

func TestListIsBounded(t *testing.T) {
	var l List
	for range MaxMessages + 10 {
		l.Alertf(Position{}, "x")
	}
	if len(l.Messages()) != MaxMessages || l.Errors() != MaxMessages+10 || l.Dropped() != 10 {
		t.Errorf("%d kept, %d errors, %d dropped", len(l.Messages()), l.Errors(), l.Dropped())
	}
	var b strings.Builder
	l.Write(&b, Format{})
	if !strings.Contains(b.String(), "10 further messages") {
		t.Error("the cut is not mentioned")
	}
	if (&List{}).Err() != nil {
		t.Error("an empty list has an error")
	}
}

func TestSeverity(t *testing.T) {
	for s, want := range map[Severity]string{Diag: "DIAG", Notice: "NOTICE", Warning: "WARNING", Alert: "ALERT"} {
		if s.String() != want {
			t.Errorf("%d = %s", s, s)
		}
	}
}
