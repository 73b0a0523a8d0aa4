package syslog

import (
	"time"

	"weir/internal/base/ascii"
)

// Clock is the time that headers show. It keeps the text of the current
// second, so that only the first message of a second pays for a calendar.
// It belongs to one loop. The zero value shows local time.
type Clock struct {
	Zone *time.Location // nil: time.Local

	sec   int64
	micro int
	valid bool
	short [15]byte // Nov 30 22:58:35
	iso   [19]byte // 2026-11-30T22:58:35
	zone  [6]byte  // +00:00
}

// Set makes t the time of the messages that follow.
func (c *Clock) Set(t time.Time) {
	c.micro = t.Nanosecond() / 1000
	if sec := t.Unix(); !c.valid || sec != c.sec {
		c.sec, c.valid = sec, true
		c.format(t)
	}
}

func (c *Clock) format(t time.Time) {
	zone := c.Zone
	if zone == nil {
		zone = time.Local
	}
	t = t.In(zone)
	year, month, day := t.Date()
	hour, minute, second := t.Clock()

	hms := func(b []byte) {
		two(b[0:], hour)
		b[2] = ':'
		two(b[3:], minute)
		b[5] = ':'
		two(b[6:], second)
	}

	copy(c.short[:], month.String()[:3])
	c.short[3], c.short[6] = ' ', ' '
	two(c.short[4:], day)
	if day < 10 {
		c.short[4] = ' '
	}
	hms(c.short[7:])

	two(c.iso[0:], year/100%100)
	two(c.iso[2:], year%100)
	c.iso[4], c.iso[7], c.iso[10] = '-', '-', 'T'
	two(c.iso[5:], int(month))
	two(c.iso[8:], day)
	hms(c.iso[11:])

	_, offset := t.Zone()
	c.zone[0], c.zone[3] = '+', ':'
	if offset < 0 {
		c.zone[0], offset = '-', -offset
	}
	two(c.zone[1:], offset/3600)
	two(c.zone[4:], offset/60%60)
}

func two(b []byte, n int) { b[0], b[1] = byte('0'+n/10), byte('0'+n%10) }

// AppendShort appends the date as RFC 3164 has it, local time: "Feb  6 12:12:09".
func (c *Clock) AppendShort(dst []byte) []byte { return append(dst, c.short[:]...) }

// AppendISO appends the date as RFC 5424 has it, local time with microseconds
// and zone: "2009-02-06T12:12:09.000123+01:00".
func (c *Clock) AppendISO(dst []byte) []byte {
	dst = append(dst, c.iso[:]...)
	dst = append(dst, '.')
	dst = ascii.AppendPadded(dst, uint64(c.micro), 6)
	return append(dst, c.zone[:]...)
}
