package pattern

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	"weir/internal/base/budget"
	"weir/internal/lang/config"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

// Out is the type of a map's values.
type Out uint8

// Types of values.
const (
	OutStr Out = iota
	OutInt
	OutIP
	OutKey // the pattern that matched stands for the value
)

// check reports a value that is none of the type.
func (o Out) check(value []byte) error {
	switch o {
	case OutInt:
		if _, err := strconv.ParseInt(string(value), 10, 64); err != nil {
			return fmt.Errorf("'%s' is no integer", value)
		}
	case OutIP:
		if _, ok := sample.ParseAddr(value); !ok {
			return fmt.Errorf("'%s' is no address", value)
		}
	}
	return nil
}

// List is a list of patterns with a name: an ACL file, a map, or one without a file.
type List struct {
	Name string
	ID   int
	Map  bool // its lines hold a key and a value
	ACL  bool // its lines hold patterns

	path     string // "": no file
	optional bool
	uses     []string // "map at file 'x' line 3"

	mu      sync.Mutex
	views   []*View
	pending map[uint32][]change
	cur     uint32 // version in use
	next    uint32 // last version that was prepared
}

// change is an entry that was added at run time.
type change struct{ key, value string }

// View is a list seen by one match method. Lookups take no lock.
type View struct {
	list   *List
	method Method
	fold   bool
	out    Out
	state  atomic.Pointer[layers]
}

// layers are an index and what was added to it since, oldest first: each layer is at least twice as large as the next.
type layers struct {
	base  layer
	added []layer
}

// layer is an index with the keys that were taken out of it since it was made: none of their entries is there any more.
type layer struct {
	index
	list []change // what it was made of, for those that were added at run time
	dead map[string]int
	gone int // entries of the dead keys
}

func (y *layer) len() int { return y.index.len() - y.gone }

func (y *layer) find(x *model.Value, left *budget.Steps) (Match, bool) {
	m, ok := y.index.find(x, left)
	if ok && y.dead != nil {
		if _, dead := y.dead[string(m.Key)]; dead {
			return Match{}, false
		}
	}
	return m, ok
}

func (y *layer) each(fn func(key, value []byte) bool) {
	if y.dead == nil {
		y.index.each(fn)
		return
	}
	y.index.each(func(key, value []byte) bool {
		if _, dead := y.dead[string(key)]; dead {
			return true
		}
		return fn(key, value)
	})
}

// whole makes layers of one index.
func whole(x index) *layers { return &layers{base: layer{index: x}} }

// List is the list that the view looks at.
func (v *View) List() *List { return v.list }

// view returns the view for a method, making an empty one if there is none.
func (l *List) view(m Method, fold bool) *View {
	v := &View{list: l, method: m, fold: fold}
	v.state.Store(whole(newBuilder(m, fold).build()))
	l.views = append(l.views, v)
	return v
}

// View returns the list as a method sees it, reading its file if no view of that kind exists.
func (l *List) View(m Method, fold bool, out Out) (*View, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, v := range l.views {
		if v.method == m && v.fold == fold && v.out == out {
			return v, nil
		}
	}
	b := newBuilder(m, fold)
	if l.path != "" {
		if err := l.load(b, out); err != nil {
			return nil, err
		}
	}
	v := &View{list: l, method: m, fold: fold, out: out}
	v.state.Store(whole(b.build()))
	l.views = append(l.views, v)
	return v, nil
}

// Find looks a value up, which must have the type that the method works on.
func (v *View) Find(x *model.Value, left *budget.Steps) (Match, bool) {
	s := v.state.Load()
	m, ok := s.base.find(x, left)
	longest := v.method == IP || v.method == Beg // else the first one decides
	for i := range s.added {
		if ok && !longest {
			break
		}
		if other, also := s.added[i].find(x, left); also && (!ok || other.rank > m.rank) {
			m, ok = other, true
		}
	}
	return m, ok
}

// Method is the match method of the view.
func (v *View) Method() Method { return v.method }

// Cast brings a value into the form that the view works on.
func (v *View) Cast(tx *model.Txn, x *model.Value) bool { return castFor(tx, x, v.method) }

// maxLine bounds a line of a file, in bytes.
const maxLine = 1 << 20

// load reads the list's file into b.
func (l *List) load(b builder, out Out) error {
	f, size, err := open(l.path)
	if errors.Is(err, os.ErrNotExist) && l.optional {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if s, ok := b.(*strBuilder); ok {
		s.grow(size)
	}
	r := bufio.NewReaderSize(f, 256<<10)
	for n := 1; ; n++ {
		line, err := r.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			line, err = longLine(r, line)
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("cannot read '%s': %w", l.path, err)
		}
		if e := l.addLine(b, line, out); e != nil {
			return fmt.Errorf("%w, at line %d of file '%s'", e, n, l.path)
		}
		if err == io.EOF {
			return nil
		}
	}
}

func longLine(r *bufio.Reader, first []byte) ([]byte, error) {
	line := bytes.Clone(first)
	for {
		more, err := r.ReadSlice('\n')
		line = append(line, more...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("a line has more than %d bytes", maxLine)
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// open opens a file of patterns.
func open(path string) (*os.File, int64, error) {
	f, size, err := config.OpenFile(path)
	if e := new(os.PathError); errors.As(err, &e) {
		err = fmt.Errorf("cannot open the list '%s': %w", path, e.Err)
	}
	return f, size, err
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// addLine adds one line of a file: blank lines and comments hold nothing.
func (l *List) addLine(b builder, line []byte, out Out) error {
	for n := len(line); n > 0 && (line[n-1] == '\n' || line[n-1] == '\r'); n-- {
		line = line[:n-1]
	}
	indented := len(line) > 0 && blank(line[0])
	for len(line) > 0 && blank(line[0]) {
		line = line[1:]
	}
	if len(line) == 0 || line[0] == '#' && !indented {
		return nil
	}
	if !l.Map {
		return b.add(line, nil, false)
	}
	key, value := line, []byte(nil)
	if i := bytes.IndexAny(line, " \t"); i >= 0 {
		key, value = line[:i], bytes.Trim(line[i:], " \t")
	}
	if err := out.check(value); err != nil {
		return err
	}
	return b.add(key, value, false)
}
