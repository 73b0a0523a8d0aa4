package conv

import "time"

// moment is a point in time, taken apart in the Gregorian calendar.
type moment struct {
	sec          int64 // since the epoch
	year         int64
	mon, day     int // from 1
	hour, min, s int
	wday         int // 0: Sunday
	yday         int // from 0
	zone         string
	offset       int64 // seconds east of Greenwich
	ifLocal      int64 // sec, were the fields those of local time
}

const daySeconds = 86400

// wide keeps the lower 55 bits of a number of seconds: the reference cuts there, so that years fit its calendar.
const wide = 1<<55 - 1

var (
	shortDays   = [7]string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}
	longDays    = [7]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
	shortMonths = [12]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}
	longMonths  = [12]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}
	daysBefore  = [12]int64{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334}
)

// newMoment takes apart a number of seconds since the epoch, in GMT or in the zone of the process.
func newMoment(sec int64, local bool) moment {
	t := time.Unix(sec, 0)
	name, offset := t.Zone()
	m := moment{sec: sec, zone: "GMT", ifLocal: sec - int64(offset)}
	if t.IsDST() {
		m.ifLocal += 3600
	}
	if local {
		m.zone, m.offset, m.ifLocal = name, int64(offset), sec
	}
	days, rest := floorDiv(sec+m.offset, daySeconds)
	m.hour, m.min, m.s = int(rest/3600), int(rest/60%60), int(rest%60)
	_, wday := floorDiv(days+4, 7)
	m.wday = int(wday)

	// Days are counted from March 1st of year 0: leap days are at the end of a year then.
	era, day := floorDiv(days+719468, 146097)
	year := (day - day/1460 + day/36524 - day/146096) / 365
	day -= 365*year + year/4 - year/100
	month := (5*day + 2) / 153
	m.day = int(day-(153*month+2)/5) + 1
	m.year = era*400 + year
	if m.mon = int(month) + 3; m.mon > 12 {
		m.mon -= 12
		m.year++
	}
	m.yday = int(daysBefore[m.mon-1]) + m.day - 1
	if m.mon > 2 && isLeap(m.year) {
		m.yday++
	}
	return m
}

func isLeap(year int64) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

// floorDiv divides towards minus infinity.
func floorDiv(x, y int64) (quotient, rest int64) {
	quotient, rest = x/y, x%y
	if rest < 0 {
		return quotient - 1, rest + y
	}
	return quotient, rest
}

// daysOf counts the days from the epoch to a date; days beyond the month's end run into the next one.
func daysOf(year int64, month, day int) int64 {
	y := year - 1
	if month > 2 {
		y = year
	}
	leaps, _ := floorDiv(y, 4)
	centuries, _ := floorDiv(y, 100)
	eras, _ := floorDiv(y, 400)
	return year*365 + leaps - centuries + eras + daysBefore[month-1] + int64(day) - 1 - 719527
}

// isoWeek is the week of ISO 8601 and its year.
func (m *moment) isoWeek() (year int64, week int) {
	year = m.year
	// The week belongs to the year of its Thursday.
	thursday := m.yday - (m.wday+6)%7 + 3
	if thursday < 0 {
		year--
		thursday += yearDays(year)
	} else if thursday >= yearDays(year) {
		thursday -= yearDays(year)
		year++
	}
	return year, thursday/7 + 1
}

func yearDays(year int64) int {
	if isLeap(year) {
		return 366
	}
	return 365
}
