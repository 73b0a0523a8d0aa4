package pattern

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"weir/internal/base/ascii"
	"weir/internal/base/budget"
	"weir/internal/model"
)

// strIndex finds exact strings: one arena with all texts, and a hash table of places in it. Neither holds a pointer.
type strIndex struct {
	fold  bool
	arena []byte   // records: length of the key, length of the value, both variable-length, then the bytes
	table []uint32 // place of a record + 1; 0: free. The first of equal keys is in it
	n     int
	// double: some keys are there more than once.
	double bool
}

// maxArena is how many bytes of text a list of strings may have.
const maxArena = math.MaxUint32 - 1

type strBuilder struct {
	fold  bool
	arena []byte
	n     int
}

func newStrBuilder(fold bool) *strBuilder { return &strBuilder{fold: fold} }

func (b *strBuilder) method() Method { return Str }

// grow makes room for the texts of a file of size bytes.
func (b *strBuilder) grow(size int64) {
	if b.arena == nil && size > 0 && size < maxArena {
		b.arena = make([]byte, 0, size+size/64+64)
	}
}

func (b *strBuilder) add(text, value []byte, _ bool) error {
	if len(b.arena)+len(text)+len(value)+2*binary.MaxVarintLen32 > maxArena {
		return fmt.Errorf("a list of strings holds at most %d bytes", maxArena)
	}
	b.arena = binary.AppendUvarint(b.arena, uint64(len(text)))
	b.arena = binary.AppendUvarint(b.arena, uint64(len(value)))
	b.arena = append(append(b.arena, text...), value...)
	b.n++
	return nil
}

func (b *strBuilder) build() index {
	size := 8
	for size < b.n+b.n/2 {
		size *= 2
	}
	x := &strIndex{fold: b.fold, arena: b.arena, table: make([]uint32, size), n: b.n}
	mask := uint64(size - 1)
	for at := 0; at < len(x.arena); {
		key, _, next := x.record(at)
		for i := x.hash(key) & mask; ; i = (i + 1) & mask {
			if x.table[i] == 0 {
				x.table[i] = uint32(at) + 1
				break
			}
			if other, _, _ := x.record(int(x.table[i] - 1)); x.equal(other, key) {
				x.double = true
				break // the first one counts
			}
		}
		at = next
	}
	return x
}

func (x *strIndex) hash(b []byte) uint64 {
	h := hashBytes(b, x.fold)
	return h ^ h>>31
}

func (x *strIndex) equal(a, b []byte) bool {
	if x.fold {
		return ascii.EqualFold(a, b)
	}
	return bytes.Equal(a, b)
}

// record reads the record at a place of the arena.
func (x *strIndex) record(at int) (key, value []byte, next int) {
	k, n := binary.Uvarint(x.arena[at:])
	at += n
	v, n := binary.Uvarint(x.arena[at:])
	at += n
	end := at + int(k)
	return x.arena[at:end:end], x.arena[end : end+int(v) : end+int(v)], end + int(v)
}

func (x *strIndex) len() int { return x.n }

func (x *strIndex) each(fn func(key, value []byte) bool) {
	for at := 0; at < len(x.arena); {
		key, value, next := x.record(at)
		if !fn(key, value) {
			return
		}
		at = next
	}
}

// short is up to how many strings comparing them all is faster than a hash.
const short = 4

func (x *strIndex) find(v *model.Value, left *budget.Steps) (Match, bool) {
	if x.n <= short {
		for at := 0; at < len(x.arena); {
			key, value, next := x.record(at)
			if len(key) == len(v.B) && x.equal(key, v.B) {
				return Match{Key: key, Value: value}, true
			}
			at = next
		}
		return Match{}, false
	}
	mask := uint64(len(x.table) - 1)
	for i := x.hash(v.B) & mask; ; i = (i + 1) & mask {
		at := x.table[i]
		if at == 0 {
			return Match{}, false
		}
		if key, value, _ := x.record(int(at - 1)); x.equal(key, v.B) {
			return Match{Key: key, Value: value}, true
		}
	}
}
