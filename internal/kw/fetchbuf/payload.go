package fetchbuf

import (
	"errors"
	"strconv"
	"strings"

	"weir/internal/lang/sample"
	"weir/internal/model"
)

// length counts the bytes of a direction. There is always a value, which grows
// as long as data come; in HTTP proxies it is the size of the message as the
// reference would hold it.
func length(d model.Dir) func(*model.Txn, []sample.Arg, *model.Value) bool {
	return func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
		if isHTTP(tx) {
			h, ok := newBlocks(tx, d)
			if !ok {
				return wait(tx, !tx.Final)
			}
			v.SetInt(int64(h.data))
			return true
		}
		data, more, _ := raw(tx, d)
		v.SetInt(int64(len(data)))
		wait(tx, more)
		return true
	}
}

func checkPayload(_ *sample.ArgCheck, a []sample.Arg) error {
	if a[0].Int < 0 {
		return errors.New("the offset must not be negative")
	}
	if a[1].Int < 0 {
		return errors.New("the length must not be negative")
	}
	return nil
}

// payload cuts <length> bytes out at <offset>; a length of 0 takes all that are there, and more as long as they come.
func payload(d model.Dir) func(*model.Txn, []sample.Arg, *model.Value) bool {
	return func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
		data, more, ok := raw(tx, d)
		limit := int64(tx.Scratch.Limit())
		if !ok || a[0].Int > limit || a[1].Int > limit-a[0].Int {
			return false // such bytes can never be in a buffer
		}
		off, n := int(a[0].Int), int(a[1].Int)
		if off > len(data) || off+n > len(data) {
			return wait(tx, more)
		}
		if n == 0 {
			wait(tx, more)
			n = len(data) - off
		}
		v.SetBin(data[off : off+n])
		return true
	}
}

// lv says where a piece starts.
type lv struct {
	at       int64
	relative bool // to the end of the length
}

func checkLV(_ *sample.ArgCheck, a []sample.Arg) error {
	switch {
	case a[0].Int < 0:
		return errors.New("the offset of the length must not be negative")
	case a[1].Int <= 0:
		return errors.New("the size of the length must be positive")
	case a[1].Int > 8:
		return errors.New("the size of the length must not be above 8")
	}
	start := lv{relative: true}
	if len(a) > 2 {
		n, err := strconv.ParseInt(a[2].Str, 10, 32)
		if err != nil {
			return errors.New("the second offset is not a number")
		}
		start = lv{n, strings.HasPrefix(a[2].Str, "+") || strings.HasPrefix(a[2].Str, "-")}
		if start.relative && a[0].Int+a[1].Int+n < 0 {
			return errors.New("the second offset points before the buffer")
		}
	}
	a[0].Data = &start
	return nil
}

// payloadLV cuts a piece out whose length, big-endian, stands in the buffer.
func payloadLV(d model.Dir) func(*model.Txn, []sample.Arg, *model.Value) bool {
	return func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
		data, more, ok := raw(tx, d)
		limit := int64(tx.Scratch.Limit())
		if !ok || a[0].Int > limit || a[1].Int > limit-a[0].Int {
			return false
		}
		off, n := int(a[0].Int), int(a[1].Int)
		if off+n > len(data) {
			return wait(tx, more)
		}
		size := uint64(0)
		for _, c := range data[off : off+n] {
			size = size<<8 | uint64(c)
		}
		start := lv{relative: true}
		if p, ok := a[0].Data.(*lv); ok {
			start = *p
		}
		from := start.at
		if start.relative {
			from += int64(off + n)
		}
		if size == 0 || from > limit || size > uint64(limit-from) {
			return false
		}
		if from+int64(size) > int64(len(data)) {
			return wait(tx, more)
		}
		v.SetBin(data[from : from+int64(size)])
		return true
	}
}
