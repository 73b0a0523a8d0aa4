package convdata

import (
	"bytes"
	"fmt"
	"strings"

	"weir/internal/base/ascii"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	sample.AddConv(
		sample.Conv{Name: "fix_is_valid", In: model.TypeBin, Out: model.TypeBool,
			Help: "true for a well-formed FIX message", Run: runFIXValid},
		sample.Conv{Name: "fix_tag_value", Args: "string", In: model.TypeBin, Out: model.TypeBin,
			Help: "value of a tag of a FIX message", Check: checkFIXTag, Run: runFIXTag},
	)
}

// fixEnd ends each field.
const fixEnd = 0x01

// Tags that have a place of their own in every message.
const (
	fixBeginString = 8
	fixBodyLength  = 9
	fixCheckSum    = 10
	fixMsgType     = 35
)

// fixTags are the tags that may be named, in lower case.
var fixTags = map[string]uint32{
	"beginstring": fixBeginString, "bodylength": fixBodyLength, "checksum": fixCheckSum, "msgtype": fixMsgType,
	"sendercompid": 49, "targetcompid": 56,
}

// fixVersions are the valid values of BeginString, each with the highest tag that it defines. Tags from fixUser to fixUserEnd are for use
// between partners, whatever the version.
var fixVersions = [...]struct {
	name string
	max  uint32
}{{"FIX.4.0", 140}, {"FIX.4.1", 211}, {"FIX.4.2", 446}, {"FIX.4.3", 659}, {"FIX.4.4", 956}, {"FIXT.1.1", 1621}}

const (
	fixUser    = 10000
	fixUserEnd = 19999
)

// fixMinimum is the size in bytes of the shortest message.
const fixMinimum = 26

// fixField is one field: tag=value.
type fixField struct {
	tag   uint32 // 0: no number
	value []byte
}

// cutFIX reads the field that b begins with and returns what follows it. ok is false when it is not complete.
func cutFIX(b []byte) (f fixField, rest []byte, ok bool) {
	eq := bytes.IndexByte(b, '=')
	if eq < 0 {
		return f, nil, false
	}
	end := bytes.IndexByte(b[eq+1:], fixEnd)
	if end < 0 {
		return f, nil, false
	}
	f.tag, _ = fixNumber(b[:eq])
	f.value = b[eq+1 : eq+1+end]
	return f, b[eq+2+end:], true
}

// fixNumber reads a number of digits only; it wraps around at 32 bits.
func fixNumber(b []byte) (n uint32, ok bool) {
	for _, c := range b {
		if !ascii.IsDigit(c) {
			return 0, false
		}
		n = n*10 + uint32(c-'0')
	}
	return n, true
}

func runFIXValid(_ *model.Txn, _ []sample.Arg, v *model.Value) bool {
	valid, complete := checkFIX(v.B)
	if complete {
		v.SetBool(valid)
	}
	return complete
}

// checkFIX reports whether b begins with a valid message. It cannot tell, complete is false, while the message has not arrived whole and
// what is there is valid.
func checkFIX(b []byte) (valid, complete bool) {
	if len(b) < fixMinimum {
		return false, false
	}
	var length, top uint32
	body := 0 // where the body begins
	rest := b
	for i := 0; ; i++ {
		at := len(b) - len(rest)
		f, after, ok := cutFIX(rest)
		if !ok {
			return false, false
		}
		good := f.tag != 0 && (f.tag <= top || f.tag >= fixUser && f.tag <= fixUserEnd)
		switch {
		case i == 0:
			top = highestFIX(f.value)
			good = f.tag == fixBeginString && top > 0
		case i == 1:
			if good = f.tag == fixBodyLength && len(f.value) > 0; good {
				length, good = fixNumber(f.value)
				body = len(b) - len(after)
			}
		case i == 2:
			good = f.tag == fixMsgType
		case f.tag == fixCheckSum:
			return uint32(at-body) == length && fixSum(b[:at], f.value), true
		}
		if !good {
			return false, true
		}
		rest = after
	}
}

// highestFIX returns the highest tag of a version, 0 for an unknown one.
func highestFIX(version []byte) uint32 {
	for i := range fixVersions {
		if string(version) == fixVersions[i].name {
			return fixVersions[i].max
		}
	}
	return 0
}

// fixSum reports whether value, three digits, is the sum of all bytes modulo 256.
func fixSum(b, value []byte) bool {
	n, ok := fixNumber(value)
	if !ok || len(value) != 3 {
		return false
	}
	var sum uint8
	for _, c := range b {
		sum += c
	}
	return n == uint32(sum)
}

func checkFIXTag(_ *sample.ArgCheck, a []sample.Arg) error {
	tag, known := fixTags[strings.ToLower(a[0].Str)]
	if !known {
		tag, known = fixNumber([]byte(a[0].Str))
	}
	if !known || tag == 0 {
		return fmt.Errorf("'%s' is no FIX tag; it is a number above zero, BeginString, BodyLength, MsgType, SenderCompID, TargetCompID or CheckSum", a[0].Str)
	}
	a[0].Data = tag
	return nil
}

func runFIXTag(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
	want := a[0].Data.(uint32)
	for rest := v.B; ; {
		f, after, ok := cutFIX(rest)
		switch {
		case !ok || f.tag == 0:
			return false
		case f.tag == want:
			v.SetBin(f.value)
			return len(f.value) > 0
		}
		rest = after
	}
}
