package fetchcore

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"weir/internal/lang/config"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	sample.AddFetch(
		count("act_conn", anywhere, "connections of the process", func(tx *model.Txn) int64 { return tx.S.Process().ActConn() }),
		truth("stopping", running, "the process is stopping", func(tx *model.Txn) (is, ok bool) { return tx.S.Process().Stopping(), true }),
		count("uptime", anywhere, "seconds since the process has started", func(tx *model.Txn) int64 { return int64(tx.S.Process().Uptime() / time.Second) }),
		text("hostname", anywhere, "name of the system", func(tx *model.Txn) (string, bool) { return tx.S.Process().Hostname(), true }),
		count("pid", anywhere, "number of the process", func(*model.Txn) int64 { return int64(os.Getpid()) }),
		count("proc", anywhere, "1, the position of the process among those that share a configuration", func(*model.Txn) int64 { return 1 }),
		count("nbproc", anywhere, "1, the processes that share a configuration", func(*model.Txn) int64 { return 1 }),
		count("thread", anywhere, "position of the thread that serves the stream, from 0", func(tx *model.Txn) int64 {
			n, _ := tx.S.Thread()
			return int64(n)
		}),
		count("tgroup", anywhere, "position of that thread's group, from 0", func(tx *model.Txn) int64 {
			_, g := tx.S.Thread()
			return int64(g)
		}),
		count("date_us", anywhere, "microseconds of the present second", func(tx *model.Txn) int64 { return int64(tx.S.Wall().Nanosecond() / 1000) }),
		sample.Fetch{Name: "date", Args: "[integer,string]", Out: model.TypeSint, Valid: anywhere, Check: unit(1, dateUnits...),
			Help: "the date in seconds, 'ms' or 'us' since the epoch, plus an offset in the same unit", Get: date},
		sample.Fetch{Name: "env", Args: "string", Out: model.TypeStr, Valid: anywhere, Help: "an environment variable, as the configuration leaves it",
			Check: checkEnv, Get: func(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
				return a[0].Data != nil && constText(nil, a, v)
			}},
		sample.Fetch{Name: "rand", Args: "[integer]", Out: model.TypeSint, Valid: anywhere, Help: "a random integer from 0 on, below the range (2^32)", Get: random},
		sample.Fetch{Name: "uuid", Args: "[integer]", Out: model.TypeStr, Valid: anywhere, Help: "a new UUID of version 4 (random) or 7 (ordered by time)",
			Check: checkUUID, Get: uuid},
	)
}

var dateUnits = []string{"s", "ms", "us"}

// inUnit is t in one of dateUnits since the epoch.
func inUnit(t time.Time, i int64) int64 {
	switch i {
	case 1:
		return t.UnixMilli()
	case 2:
		return t.UnixMicro()
	}
	return t.Unix()
}

func date(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	var offset, unit int64
	if len(a) > 0 {
		offset = a[0].Int
	}
	if len(a) > 1 {
		unit = a[1].Int
	}
	v.SetInt(inUnit(tx.S.Wall(), unit) + offset)
	return true
}

// checkEnv takes the variable's value now, for what is evaluated while the configuration is read, and again at its end.
func checkEnv(c *sample.ArgCheck, a []sample.Arg) error {
	take := func(value string, ok bool) {
		if a[0].Data = nil; ok {
			a[0].Data = []byte(value)
		}
	}
	if l := c.Scope.Line; l != nil {
		take(l.Parser().Env().Get(a[0].Str))
		l.Check(func(l *config.Line) { take(l.Parser().Env().Get(a[0].Str)) })
		return nil
	}
	if cfg := c.Scope.Config(); cfg != nil && cfg.Env != nil {
		for _, e := range cfg.Env {
			if name, value, _ := strings.Cut(e, "="); name == a[0].Str {
				take(value, true)
			}
		}
		return nil
	}
	take(os.LookupEnv(a[0].Str))
	return nil
}

// random follows the reference for ranges that make no sense as well: the result has 32 bits.
func random(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
	n := rand.Uint32()
	if len(a) > 0 && a[0].Str != "" {
		n = uint32(int64(n) * a[0].Int >> 32)
	}
	v.SetInt(int64(n))
	return true
}

func checkUUID(_ *sample.ArgCheck, a []sample.Arg) error {
	if len(a) == 0 || a[0].Str == "" || a[0].Int == 4 || a[0].Int == 7 {
		return nil
	}
	return fmt.Errorf("UUIDs of version %d are not made, only those of 4 and 7", a[0].Int)
}

// uuid makes a UUID as of RFC 9562.
func uuid(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:], rand.Uint64())
	binary.BigEndian.PutUint64(id[8:], rand.Uint64())
	version := byte(4)
	if len(a) > 0 && a[0].Int == 7 {
		version = 7
		ms := uint64(tx.S.Wall().UnixMilli())
		binary.BigEndian.PutUint16(id[:], uint16(ms>>32))
		binary.BigEndian.PutUint32(id[2:], uint32(ms))
	}
	id[6] = id[6]&0x0f | version<<4
	id[8] = id[8]&0x3f | 0x80
	b := tx.Scratch.Alloc(36)
	if b == nil {
		return false
	}
	at := 0
	for i, c := range id {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			b[at] = '-'
			at++
		}
		hex.Encode(b[at:], []byte{c})
		at += 2
	}
	v.SetStr(b)
	return true
}
