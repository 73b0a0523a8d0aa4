package syslog

import (
	"strings"
	"testing"
	"time"
)

func TestHeaders(t *testing.T) {
	at := time.Date(2026, 11, 30, 22, 58, 35, 466110789, time.UTC)
	c := Clock{Zone: time.UTC}
	c.Set(at)
	for _, tc := range []struct {
		format Format
		host   string
		want   string
	}{
		{Local, "", "<158>Nov 30 22:58:35 haproxy[11170]: text"},
		{Local, "vm", "<158>Nov 30 22:58:35 haproxy[11170]: text"},
		{RFC3164, "", "<158>Nov 30 22:58:35 localhost haproxy[11170]: text"},
		{RFC3164, "my.host", "<158>Nov 30 22:58:35 my.host haproxy[11170]: text"},
		{RFC5424, "", "<158>1 2026-11-30T22:58:35.466110+00:00 - haproxy 11170 - - text"},
		{RFC5424, "my.host", "<158>1 2026-11-30T22:58:35.466110+00:00 my.host haproxy 11170 - - text"},
		{Priority, "vm", "<158>text"},
		{Short, "vm", "<6>text"},
		{Timed, "vm", "<6>2026-11-30T22:58:35.466110+00:00 text"},
		{ISO, "vm", "2026-11-30T22:58:35.466110+00:00 text"},
		{Raw, "vm", "text"},
	} {
		h := NewHeader(tc.format, 19, tc.host, "haproxy", 11170)
		got := string(append(h.Append(nil, Info, &c), "text"...))
		if got != tc.want {
			t.Errorf("%v, host %q:\n got %s\nwant %s", tc.format, tc.host, got, tc.want)
		}
	}
}

func TestPriorityOfEveryLevelAndFacility(t *testing.T) {
	var c Clock
	for f := range Facilities() {
		h := NewHeader(Priority, f, "", "t", 1)
		s := NewHeader(Short, f, "", "t", 1)
		for l := range Levels() {
			if got, want := string(h.Append(nil, l, &c)), "<"+itoa(f*8+l)+">"; got != want {
				t.Errorf("facility %d level %d: got %s, want %s", f, l, got, want)
			}
			if got, want := string(s.Append(nil, l, &c)), "<"+itoa(l)+">"; got != want {
				t.Errorf("short, level %d: got %s, want %s", l, got, want)
			}
		}
	}
}

func itoa(n int) string {
	if n >= 10 {
		return itoa(n/10) + itoa(n%10)
	}
	return string(rune('0' + n))
}

func TestNames(t *testing.T) {
	if n, ok := FacilityByName("local7"); n != 23 || !ok {
		t.Errorf("local7: %d %v", n, ok)
	}
	if n, ok := FacilityByName("cron2"); n != 15 || !ok {
		t.Errorf("cron2: %d %v", n, ok)
	}
	if _, ok := FacilityByName("LOCAL7"); ok {
		t.Error("names are case sensitive")
	}
	if n, ok := LevelByName("warning"); n != Warning || !ok {
		t.Errorf("warning: %d %v", n, ok)
	}
	if _, ok := LevelByName("warn"); ok {
		t.Error("warn is not a level")
	}
	for i, name := range Formats() {
		if f, ok := FormatByName(name); !ok || int(f) != i || f.String() != name {
			t.Errorf("format %s: %v %v", name, f, ok)
		}
	}
}

func TestClockZonesAndPadding(t *testing.T) {
	newYork := time.FixedZone("EST", -5*3600)
	india := time.FixedZone("IST", 5*3600+1800)
	at := time.Date(2027, 2, 6, 3, 4, 5, 42000, time.UTC)
	for _, tc := range []struct {
		zone       *time.Location
		short, iso string
	}{
		{time.UTC, "Feb  6 03:04:05", "2027-02-06T03:04:05.000042+00:00"},
		{newYork, "Feb  5 22:04:05", "2027-02-05T22:04:05.000042-05:00"},
		{india, "Feb  6 08:34:05", "2027-02-06T08:34:05.000042+05:30"},
	} {
		c := Clock{Zone: tc.zone}
		c.Set(at)
		if got := string(c.AppendShort(nil)); got != tc.short {
			t.Errorf("short: got %q, want %q", got, tc.short)
		}
		if got := string(c.AppendISO(nil)); got != tc.iso {
			t.Errorf("iso: got %q, want %q", got, tc.iso)
		}
	}
}

func TestClockFollowsTime(t *testing.T) {
	c := Clock{Zone: time.UTC}
	c.Set(time.Unix(1, 999999999))
	if got := string(c.AppendISO(nil)); got != "1970-01-01T00:00:01.999999+00:00" {
		t.Error(got)
	}
	c.Set(time.Unix(2, 0))
	if got := string(c.AppendISO(nil)); got != "1970-01-01T00:00:02.000000+00:00" {
		t.Error(got)
	}
	c.Set(time.Unix(1, 5000)) // clocks may go back
	if got := string(c.AppendISO(nil)); got != "1970-01-01T00:00:01.000005+00:00" {
		t.Error(got)
	}
}

func TestEndCutsToTheLimit(t *testing.T) {
	for _, tc := range []struct{ text, limit, want int }{
		{10, 80, 11}, {78, 80, 79}, {79, 80, 80}, {80, 80, 80}, {5000, 80, 80},
		{5000, 0, DefaultLength}, {1023, 0, 1024}, {1022, 0, 1023},
	} {
		dst := append([]byte("before"), strings.Repeat("x", tc.text)...)
		got := End(dst, len("before"), tc.limit)
		if n := len(got) - len("before"); n != tc.want || got[len(got)-1] != '\n' {
			t.Errorf("%d bytes, limit %d: got %d, want %d", tc.text, tc.limit, n, tc.want)
		}
		if strings.Count(string(got), "\n") != 1 {
			t.Error("more than one line feed")
		}
	}
}

func TestHeaderAllocatesNothing(t *testing.T) {
	h := NewHeader(RFC5424, 19, "", "haproxy", 1)
	c := Clock{Zone: time.UTC}
	dst := make([]byte, 0, 256)
	at := time.Unix(1e9, 0)
	if n := testing.AllocsPerRun(1000, func() {
		at = at.Add(300 * time.Millisecond)
		c.Set(at)
		dst = End(append(h.Append(dst[:0], Info, &c), "text"...), 0, 0)
	}); n != 0 {
		t.Errorf("%v allocations a message", n)
	}
}

func BenchmarkHeader(b *testing.B) {
	h := NewHeader(RFC5424, 19, "", "haproxy", 1)
	c := Clock{}
	dst := make([]byte, 0, 256)
	at := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		c.Set(at)
		dst = End(append(h.Append(dst[:0], Info, &c), "text"...), 0, 0)
	}
}
