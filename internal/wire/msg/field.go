package msg

import (
	"bytes"

	"weir/internal/base/ascii"
)

// Find returns the index in Fields of the first field of that name at or after
// from, or -1.
func (m *Message) Find(name string, from int) int {
	for i := from; i < len(m.Fields); i++ {
		if n := m.Fields[i].Name; len(n) == len(name) && ascii.EqualFoldString(n, name) {
			return i
		}
	}
	return -1
}

// FindLast returns the index of the last field of that name before the given
// index, or -1. Start with len(m.Fields).
func (m *Message) FindLast(name string, before int) int {
	for i := before - 1; i >= 0; i-- {
		if n := m.Fields[i].Name; len(n) == len(name) && ascii.EqualFoldString(n, name) {
			return i
		}
	}
	return -1
}

// Get returns the whole value of the first field of that name.
func (m *Message) Get(name string) (value []byte, found bool) {
	if i := m.Find(name, 0); i >= 0 {
		return m.Fields[i].Value, true
	}
	return nil, false
}

// Has reports whether a field of that name is there.
func (m *Message) Has(name string) bool { return m.Find(name, 0) >= 0 }

// Count returns how many fields have that name.
func (m *Message) Count(name string) (n int) {
	for i := m.Find(name, 0); i >= 0; i = m.Find(name, i+1) {
		n++
	}
	return n
}

// AddView appends a field without copying: both slices must stay unchanged
// until Reset.
func (m *Message) AddView(name, value []byte) {
	m.Fields = append(m.Fields, Field{Name: name, Value: value})
}

// Add appends a field after the others. Name and value are copied; they are
// not validated here (encoders refuse what would change the framing).
func (m *Message) Add(name string, value []byte) {
	m.AddView(m.arena.copyString(name), m.arena.copy(value))
}

// AddString is Add with a string value.
func (m *Message) AddString(name, value string) {
	m.AddView(m.arena.copyString(name), m.arena.copyString(value))
}

// AddTrailer appends a trailer field; both slices are copied.
func (m *Message) AddTrailer(name, value []byte) {
	m.Trailers = append(m.Trailers, Field{Name: m.arena.copy(name), Value: m.arena.copy(value)})
}

// Prepend inserts a field before all others.
func (m *Message) Prepend(name string, value []byte) {
	m.Fields = append(m.Fields, Field{})
	copy(m.Fields[1:], m.Fields)
	m.Fields[0] = Field{Name: m.arena.copyString(name), Value: m.arena.copy(value)}
}

// Set removes all fields of that name and appends one with this value.
func (m *Message) Set(name string, value []byte) {
	m.Del(name)
	m.Add(name, value)
}

// SetString is Set with a string value.
func (m *Message) SetString(name, value string) {
	m.Del(name)
	m.AddString(name, value)
}

// Replace changes the value of field i in place; its name and position stay.
func (m *Message) Replace(i int, value []byte) { m.Fields[i].Value = m.arena.copy(value) }

// ReplaceFirst gives the first field of that name a new value and removes its
// other occurrences; it appends the field if there is none. Unlike Set it
// keeps the position.
func (m *Message) ReplaceFirst(name string, value []byte) {
	i := m.Find(name, 0)
	if i < 0 {
		m.Add(name, value)
		return
	}
	m.Replace(i, value)
	for k := m.Find(name, i+1); k >= 0; k = m.Find(name, k) {
		m.DelAt(k)
	}
}

// DelAt removes field i.
func (m *Message) DelAt(i int) {
	last := len(m.Fields) - 1
	copy(m.Fields[i:], m.Fields[i+1:])
	m.Fields[last] = Field{}
	m.Fields = m.Fields[:last]
}

// Del removes all fields of that name and returns how many there were.
func (m *Message) Del(name string) int {
	i := m.Find(name, 0)
	if i < 0 {
		return 0
	}
	return m.filter(i, func(f *Field) bool { return f.Is(name) })
}

// DelFunc removes the fields for which drop returns true, and returns how many
// there were.
func (m *Message) DelFunc(drop func(f *Field) bool) int { return m.filter(0, drop) }

func (m *Message) filter(from int, drop func(f *Field) bool) int {
	kept := from
	for i := from; i < len(m.Fields); i++ {
		if drop(&m.Fields[i]) {
			continue
		}
		if kept != i {
			m.Fields[kept] = m.Fields[i]
		}
		kept++
	}
	n := len(m.Fields) - kept
	clear(m.Fields[kept:])
	m.Fields = m.Fields[:kept]
	return n
}

// ListIter walks the elements of the comma lists held by all fields of one
// name. Commas inside quoted strings do not split, as in RFC 9110 5.6.4. Empty
// elements are skipped.
type ListIter struct {
	Value []byte // current element, without the blanks around it
	Index int    // its field in Fields

	m    *Message
	name string
	rest []byte
}

// List returns an iterator over the elements of all fields of that name.
func (m *Message) List(name string) ListIter { return ListIter{m: m, name: name, Index: -1} }

// ListOf returns an iterator over the elements of one value.
func ListOf(value []byte) ListIter { return ListIter{rest: value, Index: -1} }

// Next moves to the next element and reports whether there is one.
func (it *ListIter) Next() bool {
	for {
		for len(it.rest) > 0 {
			n := ListElem(it.rest)
			v := ascii.Trim(it.rest[:n])
			it.rest = it.rest[min(n+1, len(it.rest)):]
			if len(v) > 0 {
				it.Value = v
				return true
			}
		}
		if it.m == nil {
			return false
		}
		i := it.m.Find(it.name, it.Index+1)
		if i < 0 {
			return false
		}
		it.Index = i
		it.rest = it.m.Fields[i].Value
	}
}

// ListElem returns the length of the first element of a comma list: up to a
// comma outside quotes, or to the end.
func ListElem(v []byte) int {
	n := bytes.IndexByte(v, ',')
	if n < 0 {
		n = len(v)
	}
	if bytes.IndexByte(v[:n], '"') < 0 {
		return n
	}
	quoted := false
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '"':
			quoted = !quoted
		case '\\':
			if quoted {
				i++
			}
		case ',':
			if !quoted {
				return i
			}
		}
	}
	return len(v)
}

// HasToken reports whether one of the fields of that name lists token, letter
// case aside.
func (m *Message) HasToken(name, token string) bool {
	for it := m.List(name); it.Next(); {
		if ascii.EqualFoldString(it.Value, token) {
			return true
		}
	}
	return false
}

// DelToken removes every element equal to token, letter case aside, from the
// comma lists of that name. A field left without any element is removed. It
// returns how many elements went away.
func (m *Message) DelToken(name, token string) (n int) {
	for i := m.Find(name, 0); i >= 0; i = m.Find(name, i) {
		left, gone := m.withoutToken(m.Fields[i].Value, token)
		n += gone
		switch {
		case gone > 0 && len(left) == 0:
			m.DelAt(i)
			continue
		case gone > 0:
			m.Fields[i].Value = left
		}
		i++
	}
	return n
}

func (m *Message) withoutToken(value []byte, token string) (left []byte, gone int) {
	for it := ListOf(value); it.Next(); {
		if ascii.EqualFoldString(it.Value, token) {
			gone++
		}
	}
	if gone == 0 {
		return value, 0
	}
	room := m.arena.alloc(len(value))[:0]
	for it := ListOf(value); it.Next(); {
		if ascii.EqualFoldString(it.Value, token) {
			continue
		}
		if len(room) > 0 {
			room = append(room, ", "...)
		}
		room = append(room, it.Value...)
	}
	return room, gone
}
