package convdata

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	const args = "Protocol buffers field number[,string]"
	sample.AddConv(
		sample.Conv{Name: "protobuf", Args: args, In: model.TypeBin, Out: model.TypeBin,
			Help: "field of a protocol buffers message", Check: checkProtobuf, Run: runProtobuf},
		sample.Conv{Name: "ungrpc", Args: args, In: model.TypeBin, Out: model.TypeBin,
			Help: "field of the first gRPC message that has it", Check: checkProtobuf, Run: runUngrpc},
	)
}

// Wire types of fields. The deprecated groups (3 and 4) are refused.
const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wire32     = 5
)

// fieldType turns the bytes of a field into an integer.
type fieldType struct {
	wire  uint64
	value func(b []byte) int64
}

// fieldTypes are the types of the language that become integers. The 32-bit ones are not cut to 32 bits, as in the reference.
var fieldTypes = map[string]*fieldType{
	"int32":    {wireVarint, varint},
	"int64":    {wireVarint, varint},
	"uint32":   {wireVarint, varint},
	"uint64":   {wireVarint, varint},
	"bool":     {wireVarint, varint},
	"enum":     {wireVarint, varint},
	"sint32":   {wireVarint, zigzag},
	"sint64":   {wireVarint, zigzag},
	"fixed64":  {wire64, func(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }},
	"sfixed64": {wire64, func(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }},
	"double":   {wire64, func(b []byte) int64 { return truncate(math.Float64frombits(binary.LittleEndian.Uint64(b))) }},
	"fixed32":  {wire32, func(b []byte) int64 { return int64(binary.LittleEndian.Uint32(b)) }},
	"sfixed32": {wire32, func(b []byte) int64 { return int64(int32(binary.LittleEndian.Uint32(b))) }},
	"float": {wire32, func(b []byte) int64 {
		return int64(uint32(cvt(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))))
	}},
}

func varint(b []byte) int64 {
	n, _ := cutVarint(b)
	return int64(n)
}

func zigzag(b []byte) int64 {
	n, _ := cutVarint(b)
	return int64(n>>1) ^ -int64(n&1)
}

// cvt converts to a signed integer as amd64 does: what does not fit becomes the smallest one.
func cvt(f float64) int64 {
	if f >= -1<<63 && f < 1<<63 {
		return int64(f)
	}
	return math.MinInt64
}

// truncate converts to an integer as the reference does, which makes an unsigned one first.
func truncate(f float64) int64 {
	if f >= 1<<63 {
		return cvt(f-1<<63) ^ math.MinInt64
	}
	return cvt(f)
}

// protoField is where a field stands, one number for each level of messages, and its type: nil for its raw bytes.
type protoField struct {
	path []uint32
	typ  *fieldType
}

func checkProtobuf(_ *sample.ArgCheck, a []sample.Arg) error {
	f := new(protoField)
	for part := range strings.SplitSeq(a[0].Str, ".") {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return fmt.Errorf("'%s' is no list of field numbers", a[0].Str)
		}
		f.path = append(f.path, uint32(n))
	}
	if len(a) > 1 {
		if f.typ = fieldTypes[a[1].Str]; f.typ == nil {
			return fmt.Errorf("'%s' is no type of a field that can become an integer, such as int32 or double", a[1].Str)
		}
	}
	a[0].Data = f
	return nil
}

func runProtobuf(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
	return a[0].Data.(*protoField).find(v.B, v) == fieldFound
}

// grpcHeader is the size of what precedes each message: a flag and its length.
const grpcHeader = 5

func runUngrpc(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
	f := a[0].Data.(*protoField)
	for b := v.B; len(b) > grpcHeader; {
		n := int64(binary.BigEndian.Uint32(b[1:]))
		if b = b[grpcHeader:]; n > int64(len(b)) {
			return false
		}
		if outcome := f.find(b[:n], v); outcome != fieldAbsent {
			return outcome == fieldFound
		}
		b = b[n:]
	}
	return false
}

// Outcomes of a search.
const (
	fieldAbsent = iota
	fieldFound
	fieldBroken // the message is malformed, or the field is of another type
)

// find makes v the field. Where a number occurs more than once, the first counts.
func (f *protoField) find(msg []byte, v *model.Value) (outcome int) {
	last := len(f.path) - 1
	more := false // there are bytes behind the message at hand
	for level, number := range f.path {
		wire, field, rest, outcome := findField(msg, number)
		if outcome == fieldAbsent && more {
			return fieldBroken
		}
		if outcome != fieldFound {
			return outcome
		}
		switch {
		case level < last:
			if wire != wireBytes {
				return fieldBroken
			}
			msg, more = field, more || len(rest) > 0
		case f.typ == nil:
			v.SetBin(field)
		case wire == wireBytes && f.typ.wire != wire && len(field) == 0 && len(rest) == 0 && !more:
			return fieldAbsent // the message ends where the field would begin
		case f.typ.wire != wire:
			return fieldBroken
		default:
			v.SetInt(f.typ.value(field))
		}
	}
	return fieldFound
}

// findField returns the first field of that number in a message, and what follows it. A message that ends within a key or a length, or just
// behind one, only ends: the field is absent.
func findField(msg []byte, number uint32) (wire uint64, field, rest []byte, outcome int) {
	for len(msg) > 0 {
		key, n := cutVarint(msg)
		if n <= 0 {
			return 0, nil, nil, endOrError(n)
		}
		wire, msg = key&7, msg[n:]
		found := uint32(key>>3) == number
		if len(msg) == 0 {
			// A number or a length that is missing is zero.
			if found && (wire == wireVarint || wire == wireBytes) {
				return wire, nil, nil, fieldFound
			}
			return 0, nil, nil, fieldAbsent
		}
		skip, size, outcome := measure(wire, msg)
		if found && wire == wireVarint && outcome == fieldAbsent {
			outcome = fieldBroken
		}
		if outcome != fieldFound {
			return 0, nil, nil, outcome
		}
		if rest = msg[skip+size:]; found {
			return wire, msg[skip : skip+size], rest, fieldFound
		}
		msg = rest
	}
	return 0, nil, nil, fieldAbsent
}

// measure returns the sizes of the length, if there is one, and of the contents of the field that msg, not empty, begins with.
func measure(wire uint64, msg []byte) (skip, size, outcome int) {
	switch wire {
	case wireVarint:
		if _, size = cutVarint(msg); size <= 0 {
			return 0, 0, endOrError(size)
		}
	case wire64:
		size = 8
	case wire32:
		size = 4
	case wireBytes:
		n, skip := cutVarint(msg)
		switch {
		case skip <= 0:
			return 0, 0, endOrError(skip)
		case skip == len(msg) && n > 0:
			return 0, 0, fieldAbsent
		case n > uint64(len(msg)-skip):
			return 0, 0, fieldBroken
		}
		return skip, int(n), fieldFound
	default:
		return 0, 0, fieldBroken
	}
	if size > len(msg) {
		return 0, 0, fieldBroken
	}
	return 0, size, fieldFound
}

// endOrError tells what a varint without a size means: the end of the message, or an error.
func endOrError(size int) int {
	if size == 0 {
		return fieldAbsent
	}
	return fieldBroken
}

// maxVarint is the longest encoding of a varint, in bytes.
const maxVarint = 10

// cutVarint reads the varint that b begins with and returns its size in bytes: 0 when it is not complete, -1 when it is longer than maxVarint.
func cutVarint(b []byte) (n uint64, size int) {
	for i, c := range b {
		if i == maxVarint {
			return 0, -1
		}
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return n, i + 1
		}
	}
	return 0, 0
}
