package pattern

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"weir/internal/lang/sample"
	"weir/internal/model"
)

// Changes at run time: each is checked against all views of a list first, then applied to all of them.

// ErrNoEntry is returned for a key that a list does not have.
var ErrNoEntry = errors.New("entry not found")

// ErrNoVersion is returned for a version that was not prepared, or is no longer.
var ErrNoVersion = errors.New("no such version")

// maxAdded is how many entries may lie over a small index before all are made one.
const maxAdded = 1024

// Add adds an entry; the value is that of a map.
func (l *List) Add(key, value string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.check(key, value); err != nil {
		return err
	}
	return l.add(change{key, value})
}

// check reports an entry that one of the views cannot take. Names are not resolved at run time.
func (l *List) check(key, value string) error {
	for _, v := range l.views {
		if err := v.out.check([]byte(value)); err != nil {
			return err
		}
		if err := newBuilder(v.method, v.fold).add([]byte(key), []byte(value), true); err != nil {
			return err
		}
	}
	return nil
}

// add lays an entry over the indexes of all views.
func (l *List) add(c change) error {
	for _, v := range l.views {
		s := v.state.Load()
		list := []change{c}
		added := slices.Clone(s.added)
		total := 1
		for n := len(added) - 1; n >= 0; n-- {
			total += len(added[n].list)
		}
		// What has grown to the size of the layer below is made one with it.
		for n := len(added); n > 0 && len(added[n-1].list) < 2*len(list); n-- {
			list = append(slices.Clone(added[n-1].list), list...)
			added = added[:n-1]
		}
		if total > max(maxAdded, s.base.len()/4) {
			if err := l.rebuild(v, []change{c}, nil); err != nil {
				return err
			}
			continue
		}
		b := newBuilder(v.method, v.fold)
		for _, c := range list {
			if err := b.add([]byte(c.key), []byte(c.value), true); err != nil {
				return err
			}
		}
		v.state.Store(&layers{base: s.base, added: append(added, layer{b.build(), list})})
	}
	return nil
}

// rebuild makes one index of what a view has, without the entries that drop names and with more behind them.
func (l *List) rebuild(v *View, more []change, drop func(key, value []byte) (keep bool, newValue []byte)) error {
	b := newBuilder(v.method, v.fold)
	var err error
	v.Each(func(key, value []byte) bool {
		if drop != nil {
			keep, changed := drop(key, value)
			if !keep {
				return true
			}
			value = changed
		}
		err = b.add(key, value, true)
		return err == nil
	})
	for _, c := range more {
		if err == nil {
			err = b.add([]byte(c.key), []byte(c.value), true)
		}
	}
	if err != nil {
		return err
	}
	v.state.Store(&layers{base: b.build()})
	return nil
}

// Each calls fn for all entries of the view until it returns false. Both slices are valid during the call.
func (v *View) Each(fn func(key, value []byte) bool) {
	s := v.state.Load()
	on := true
	s.base.each(func(key, value []byte) bool {
		on = fn(key, value)
		return on
	})
	for i := 0; on && i < len(s.added); i++ {
		s.added[i].each(func(key, value []byte) bool {
			on = fn(key, value)
			return on
		})
	}
}

// Len is the number of entries.
func (v *View) Len() int {
	s := v.state.Load()
	n := s.base.len()
	for i := range s.added {
		n += s.added[i].len()
	}
	return n
}

// Each calls fn for all entries of the list, as its first view has them.
func (l *List) Each(fn func(key, value []byte) bool) {
	if views := l.Views(); len(views) > 0 {
		views[0].Each(fn)
	}
}

// Len is the number of entries.
func (l *List) Len() int {
	if views := l.Views(); len(views) > 0 {
		return views[0].Len()
	}
	return 0
}

// Views are the ways in which the list is looked at.
func (l *List) Views() []*View {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.views)
}

// sameKey compares a key with an entry as a view understands both: 10.0.0.1 and 10.0.0.1/32 are one.
func (v *View) sameKey(key string) func(entry []byte) bool {
	if v.method != IP {
		return func(e []byte) bool { return string(e) == key }
	}
	want, err := parseNetwork(key, true)
	return func(e []byte) bool {
		if string(e) == key {
			return true
		}
		if err != nil {
			return false
		}
		got, err := parseNetwork(string(e), true)
		return err == nil && slices.Equal(got, want)
	}
}

// Del removes all entries of a key.
func (l *List) Del(key string) error {
	return l.edit(key, func([]byte) (bool, []byte) { return false, nil })
}

// Set changes the value of all entries of a key.
func (l *List) Set(key, value string) error {
	l.mu.Lock()
	for _, v := range l.views {
		if err := v.out.check([]byte(value)); err != nil {
			l.mu.Unlock()
			return err
		}
	}
	l.mu.Unlock()
	return l.edit(key, func([]byte) (bool, []byte) { return true, []byte(value) })
}

// edit applies fn to the entries of a key.
func (l *List) edit(key string, fn func(value []byte) (keep bool, newValue []byte)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := false
	for _, v := range l.views {
		same := v.sameKey(key)
		if !v.has(same) {
			continue
		}
		found = true
		err := l.rebuild(v, nil, func(k, value []byte) (bool, []byte) {
			if !same(k) {
				return true, value
			}
			return fn(value)
		})
		if err != nil {
			return err
		}
	}
	if !found {
		return ErrNoEntry
	}
	return nil
}

func (v *View) has(same func([]byte) bool) (found bool) {
	v.Each(func(key, _ []byte) bool {
		found = same(key)
		return !found
	})
	return found
}

// Has reports whether the list has an entry of that key.
func (l *List) Has(key string) bool {
	for _, v := range l.Views() {
		if v.has(v.sameKey(key)) {
			return true
		}
	}
	return false
}

// Clear removes all entries.
func (l *List) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
}

func (l *List) clear() {
	for _, v := range l.views {
		v.state.Store(&layers{base: newBuilder(v.method, v.fold).build()})
	}
}

// Prepare begins a new version beside the one in use and returns its number.
func (l *List) Prepare() uint32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending == nil {
		l.pending = make(map[uint32][]change)
	}
	l.next++
	l.pending[l.next] = nil
	return l.next
}

// Versions are the number of the version in use and of the last one that was prepared.
func (l *List) Versions() (cur, next uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cur, l.next
}

// AddVersion adds an entry to a prepared version.
func (l *List) AddVersion(version uint32, key, value string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	list, ok := l.pending[version]
	if !ok {
		return ErrNoVersion
	}
	if err := l.check(key, value); err != nil {
		return err
	}
	l.pending[version] = append(list, change{key, value})
	return nil
}

// ClearVersion gives a prepared version up.
func (l *List) ClearVersion(version uint32) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.pending[version]; !ok {
		return ErrNoVersion
	}
	delete(l.pending, version)
	return nil
}

// Commit puts a prepared version in the place of the one in use.
func (l *List) Commit(version uint32) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	list, ok := l.pending[version]
	if !ok {
		return ErrNoVersion
	}
	next := make([]index, len(l.views))
	for i, v := range l.views {
		b := newBuilder(v.method, v.fold)
		for _, c := range list {
			if err := b.add([]byte(c.key), []byte(c.value), true); err != nil {
				return err
			}
		}
		next[i] = b.build()
	}
	for i, v := range l.views {
		v.state.Store(&layers{base: next[i]})
	}
	for n := range l.pending { // versions before it can no longer be committed
		if n <= version {
			delete(l.pending, n)
		}
	}
	l.cur = version
	return nil
}

// Lookup finds what a text matches in a view, as "get map" and "get acl" do.
func (v *View) Lookup(tx *model.Txn, text string) (m Match, ok bool, err error) {
	x := model.Value{Type: model.TypeStr, B: []byte(text)}
	if v.method == Found || v.method == Bool {
		return m, false, fmt.Errorf("method '%s' has no patterns", v.method)
	}
	if v.method == Bin || v.method == Int || v.method == IP {
		if !sample.Cast(tx, &x, v.method.Input()) {
			return m, false, nil
		}
	}
	m, ok = v.Find(&x, &tx.Steps)
	m.Key, m.Value = bytes.Clone(m.Key), bytes.Clone(m.Value)
	return m, ok, nil
}
