package pattern

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
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
		if err := l.lay(v, []change{c}); err != nil {
			return err
		}
	}
	return nil
}

// lay puts entries over the index of a view.
func (l *List) lay(v *View, list []change) error {
	s := v.state.Load()
	added := slices.Clone(s.added)
	total := len(list)
	for n := len(added) - 1; n >= 0; n-- {
		total += len(added[n].list)
	}
	// What has grown to the size of the layer below is made one with it.
	for n := len(added); n > 0 && len(added[n-1].list) < 2*len(list); n-- {
		list = append(added[n-1].alive(), list...)
		added = added[:n-1]
	}
	if total > max(maxAdded, s.base.len()/4) {
		return l.rebuild(v, list, added, nil)
	}
	b := newBuilder(v.method, v.fold)
	for _, c := range list {
		if err := b.add([]byte(c.key), []byte(c.value), true); err != nil {
			return err
		}
	}
	v.state.Store(&layers{base: s.base, added: append(added, layer{index: b.build(), list: list})})
	return nil
}

// alive are the entries that a layer was made of, without those that were taken out.
func (y *layer) alive() (list []change) {
	for _, c := range y.list {
		if _, dead := y.dead[c.key]; !dead {
			list = append(list, c)
		}
	}
	return list
}

// rebuild makes one index of a view's base and added layers, without the entries that drop names and with more behind them.
func (l *List) rebuild(v *View, more []change, added []layer, drop func(key, value []byte) (keep bool, newValue []byte)) error {
	b := newBuilder(v.method, v.fold)
	var err error
	old := layers{v.state.Load().base, added}
	old.each(func(key, value []byte) bool {
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
	v.state.Store(whole(b.build()))
	return nil
}

// Each calls fn for all entries of the view until it returns false. Both slices are valid during the call.
func (v *View) Each(fn func(key, value []byte) bool) { v.state.Load().each(fn) }

func (s *layers) each(fn func(key, value []byte) bool) {
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
	return l.edit(key, func([]byte, int) (bool, []byte) { return false, nil })
}

// DelFirst removes the first entry of a key.
func (l *List) DelFirst(key string) error {
	return l.edit(key, func(value []byte, n int) (bool, []byte) { return n > 0, value })
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
	return l.edit(key, func([]byte, int) (bool, []byte) { return true, []byte(value) })
}

// edit applies fn to the entries of a key, which it gets with their number among those of the key.
func (l *List) edit(key string, fn func(value []byte, n int) (keep bool, newValue []byte)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	found := false
	for _, v := range l.views {
		if v.method == Str && v.Len() > maxAdded {
			hit, err := l.mask(v, key, fn)
			if err != nil {
				return err
			}
			found = found || hit
			continue
		}
		same := v.sameKey(key)
		if !v.has(same) {
			continue
		}
		found = true
		n := -1
		err := l.rebuild(v, nil, v.state.Load().added, func(k, value []byte) (bool, []byte) {
			if !same(k) {
				return true, value
			}
			n++
			return fn(value, n)
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

// maxDead is how many keys may have been taken out of a layer before all are made one.
const maxDead = 4096

// mask is edit for large lists of strings: the key is noted as taken out, and what stays of its entries is laid over the
// list. The lookup of a string finds all that is to be known about it, so that nothing is walked.
func (l *List) mask(v *View, key string, fn func(value []byte, n int) (keep bool, newValue []byte)) (found bool, err error) {
	s := v.state.Load()
	next := &layers{base: s.base, added: slices.Clone(s.added)}
	var stay []change
	n, full := -1, false
	for i := -1; i < len(next.added); i++ {
		y := &next.base
		if i >= 0 {
			y = &next.added[i]
		}
		class := y.same(key)
		if !slices.ContainsFunc(class, func(c change) bool { return c.key == key }) {
			continue
		}
		y.dead = maps.Clone(y.dead)
		if y.dead == nil {
			y.dead = make(map[string]int)
		}
		for _, c := range class {
			y.dead[c.key]++
			y.gone++
			if c.key == key {
				n++
				found = true
				keep, value := fn([]byte(c.value), n)
				if !keep {
					continue
				}
				c.value = string(value)
			}
			stay = append(stay, c)
		}
		full = full || len(y.dead) > maxDead
	}
	if !found {
		return false, nil
	}
	v.state.Store(next)
	if full {
		return true, l.rebuild(v, stay, next.added, nil)
	}
	if len(stay) > 0 {
		err = l.lay(v, stay)
	}
	return true, err
}

// same are the entries of an index of strings that a lookup of key could find, those of other letter case included.
func (y *layer) same(key string) (list []change) {
	x, ok := y.index.(*strIndex)
	if !ok {
		return nil
	}
	m, ok := x.find(&model.Value{Type: model.TypeStr, B: []byte(key)}, nil)
	if !ok {
		return nil
	}
	if !x.double {
		list = []change{{string(m.Key), string(m.Value)}}
	} else {
		x.each(func(k, value []byte) bool {
			if x.equal(k, []byte(key)) {
				list = append(list, change{string(k), string(value)})
			}
			return true
		})
	}
	return slices.DeleteFunc(list, func(c change) bool { _, dead := y.dead[c.key]; return dead })
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
		v.state.Store(whole(newBuilder(v.method, v.fold).build()))
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

// AddVersion adds an entry to a version beside the one in use. One that is older than that can be filled too, but is never
// used.
func (l *List) AddVersion(version uint32, key, value string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if version > l.next || version == l.cur {
		return ErrNoVersion
	}
	if err := l.check(key, value); err != nil {
		return err
	}
	if l.pending == nil {
		l.pending = make(map[uint32][]change)
	}
	l.pending[version] = append(l.pending[version], change{key, value})
	return nil
}

// ClearVersion empties a version beside the one in use.
func (l *List) ClearVersion(version uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.pending[version]; ok {
		l.pending[version] = nil
	}
}

// EachVersion calls fn for the entries of a version beside the one in use, until it returns false.
func (l *List) EachVersion(version uint32, fn func(key, value string) bool) {
	l.mu.Lock()
	list := l.pending[version]
	l.mu.Unlock()
	for _, c := range list { // it grows at its end only
		if !fn(c.key, c.value) {
			return
		}
	}
}

// Entries counts the entries of all versions, once for each way in which the list is looked at.
func (l *List) Entries() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, v := range l.views {
		n += v.Len()
		for _, list := range l.pending {
			n += len(list)
		}
	}
	return n
}

// Uses tell where a configuration names the list: "map at file 'x' line 3".
func (l *List) Uses() []string { return l.uses }

// Commit puts a prepared version in the place of the one in use. The lists are made before anything is held up.
func (l *List) Commit(version uint32) error {
	l.mu.Lock()
	list := l.pending[version]
	views := slices.Clone(l.views)
	ok := version > l.cur && version <= l.next
	l.mu.Unlock()
	if !ok {
		return ErrNoVersion
	}
	next := make([]index, len(views))
	for i, v := range views {
		b := newBuilder(v.method, v.fold)
		for _, c := range list {
			if err := b.add([]byte(c.key), []byte(c.value), true); err != nil {
				return err
			}
		}
		next[i] = b.build()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if version <= l.cur || len(l.pending[version]) != len(list) {
		return ErrNoVersion // somebody else was at it
	}
	for i, v := range views {
		v.state.Store(whole(next[i]))
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
