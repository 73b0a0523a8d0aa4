package cookie

import (
	"strings"

	"weir/internal/model"
)

// dateMark stands before each date in a cookie's value. A date is five digits of base 64: seconds of the epoch divided by
// four, of which 30 bits are kept.
const dateMark = '|'

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

const dateLen = 5

// parseDate reads a date in seconds; 0 when there is none at the beginning of b.
func parseDate(b []byte) (seconds int64) {
	if len(b) < dateLen {
		return 0
	}
	for _, c := range b[:dateLen] {
		n := strings.IndexByte(digits, c)
		if n < 0 {
			return 0
		}
		seconds = seconds<<6 | int64(n)
	}
	return seconds << 2
}

func appendDate(dst []byte, seconds int64) []byte {
	for shift := 6 * (dateLen - 1); shift >= 0; shift -= 6 {
		dst = append(dst, digits[seconds>>2>>shift&63])
	}
	return dst
}

// ahead is how far in the future a date may be, in seconds: clocks and time zones differ.
const ahead = 24 * 3600

// State is what a request's cookie is worth: the third letter of a termination state (manual 8.5).
type State byte

// States. The zero value stands for backends without such a cookie.
const (
	Absent  State = 'N'
	Invalid State = 'I' // no server has it
	Down    State = 'D' // its server cannot be used
	Valid   State = 'V'
	Expired State = 'E' // unused for too long
	Old     State = 'O' // first set too long ago
	Unused  State = 'U' // something else has chosen the server
)

// Age judges the dates of a cookie at a time: Valid, Expired or Old.
func Age(p *model.Persistence, last, first, now int64) State {
	if tooOld(first, now, int64(p.MaxLife.Seconds())) {
		return Old
	}
	if tooOld(last, now, int64(p.MaxIdle.Seconds())) {
		return Expired
	}
	return Valid
}

func tooOld(date, now, limit int64) bool {
	return limit > 0 && date != 0 && (now-date > limit || date-now > ahead)
}

// Stale reports whether a valid cookie must be set again, since its dates are not what they should be.
func Stale(p *model.Persistence, last, first, now int64) bool {
	return p.Mode == model.PersistInsert &&
		(p.MaxIdle > 0 && last == 0 || last != 0 && last < now || (p.MaxLife > 0) != (first != 0))
}
