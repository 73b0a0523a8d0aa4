package buf

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"

	"weir/internal/base/assert"
)

func TestViews(t *testing.T) {
	p := NewShared(Config{}).NewPool()
	b := p.Get(Std)
	if b.Len() != 0 || b.Cap() != 16384 || len(b.Space()) != 16384 || b.Class() != Std {
		t.Fatal(b.Len(), b.Cap())
	}
	b.Append([]byte("head body rest"))
	head := b.Split(5)
	more := b.Retain()
	if string(head.Bytes()) != "head " || string(b.Bytes()) != "body rest" || string(more.Bytes()) != "body rest" {
		t.Fatalf("%q %q %q", head.Bytes(), b.Bytes(), more.Bytes())
	}
	if len(head.Space()) != 0 || len(more.Space()) != 0 || head.Append([]byte("x")) != 0 {
		t.Fatal("a shared view has room")
	}
	if !b.Shared() || b.Compact() {
		t.Fatal("compacted under another view")
	}
	b.Append([]byte("!")) // only b may
	head.Release()
	if string(more.Bytes()) != "body rest" {
		t.Fatal("view changed")
	}
	more.Release()
	if b.Shared() || !b.Compact() || b.R != 0 || string(b.Bytes()) != "body rest!" {
		t.Fatalf("%d %q", b.R, b.Bytes())
	}
	b.R = b.W
	if !b.Compact() || b.W != 0 {
		t.Fatal("an empty view compacts to 0")
	}
	last := b.Split(0)
	b.Release()
	if p.InUse() != 1 {
		t.Fatal("storage went back while a view was left")
	}
	last.Release()
	if n := p.Close(); n != 0 {
		t.Fatal(n)
	}
}

func panics(fn func()) (p bool) {
	defer func() { p = recover() != nil }()
	fn()
	return false
}

func TestMisuse(t *testing.T) {
	p := NewShared(Config{}).NewPool()
	b := p.Get(Small)
	b.Append([]byte("abc"))
	if !panics(func() { b.Split(4) }) || !panics(func() { b.Split(-1) }) {
		t.Error("Split outside of the bytes")
	}
	b.Release()
	if !panics(func() { b.Release() }) {
		t.Error("released twice")
	}
}

func TestPoison(t *testing.T) {
	p := NewShared(Config{Poison: true}).NewPool()
	b := p.Get(Small)
	d := b.Data()
	b.Append([]byte("secret"))
	b.Release()
	if d[0] != poison || d[len(d)-1] != poison {
		t.Fatal("not overwritten")
	}
	b = p.Get(Small)
	if &b.Data()[0] != &d[0] {
		t.Fatal("the last released is not the next lent")
	}
	b.Release()
	if assert.On {
		p = NewShared(Config{}).NewPool()
		b = p.Get(Small)
		d = b.Data()
		b.Release()
		if d[0] != poison {
			t.Fatal("an assertion build does not poison")
		}
	}
}

func TestQueue(t *testing.T) {
	p := NewShared(Config{}).NewPool()
	var q Queue
	var want []byte
	add := func(s string, front bool) {
		b := p.Get(Small)
		b.Append([]byte(s))
		if front {
			q.PushFront(b)
			want = append([]byte(s), want...)
		} else {
			q.Push(b)
			want = append(want, s...)
		}
	}
	add("two ", true)
	add("three ", false)
	add("one ", true)
	check := func() {
		t.Helper()
		var got []byte
		n := 0
		for b := q.Front(); b != nil; b = b.Next() {
			got = append(got, b.Bytes()...)
			n++
		}
		if !bytes.Equal(got, want) || q.Bytes() != len(want) || q.Len() != n {
			t.Fatalf("%q (%d, %d), want %q", got, q.Len(), q.Bytes(), want)
		}
	}
	check()
	for _, n := range []int{0, 1, 3, 6, 1} {
		q.Discard(n)
		want = want[n:]
		check()
	}
	if !panics(func() { q.Discard(100) }) {
		t.Error("discarded more than there is")
	}
	want = nil
	check()
	add("a", false)
	add("b", false)
	q.Clear()
	want = nil
	check()
	if q.Pop() != nil || p.InUse() != 0 {
		t.Fatal("not empty")
	}
}

// TestRandomViews compares random splitting, retaining and releasing with plain copies.
func TestRandomViews(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 3))
	p := NewShared(Config{Poison: true, SmallSize: 64}).NewPool()
	type view struct {
		b    *Buf
		want []byte
	}
	var vs []view
	for range 50_000 {
		if len(vs) == 0 || rng.IntN(4) == 0 && len(vs) < 100 {
			b := p.Get(Class(rng.IntN(2)))
			x := make([]byte, rng.IntN(60))
			for i := range x {
				x[i] = byte(rng.Uint32())
			}
			b.Append(x)
			vs = append(vs, view{b, x})
			continue
		}
		i := rng.IntN(len(vs))
		v := &vs[i]
		if !bytes.Equal(v.b.Bytes(), v.want) {
			t.Fatal("view changed behind its back")
		}
		switch rng.IntN(4) {
		case 0:
			n := rng.IntN(v.b.Len() + 1)
			h := v.b.Split(n)
			w := v.want
			v.want = w[n:]
			vs = append(vs, view{h, w[:n]})
		case 1:
			vs = append(vs, view{v.b.Retain(), v.want})
		case 2:
			v.b.Compact()
		default:
			v.b.Release()
			vs[i] = vs[len(vs)-1]
			vs = vs[:len(vs)-1]
		}
	}
	for _, v := range vs {
		v.b.Release()
	}
	if n := p.Close(); n != 0 {
		t.Fatalf("%d buffers lost", n)
	}
}

func TestLimitAndReserve(t *testing.T) {
	s := NewShared(Config{Limit: 10, Reserve: 2})
	a, b := s.NewPool(), s.NewPool()
	if a.Share(Std) != 5 || a.Share(Large) != 1 {
		t.Fatal(a.Share(Std), a.Share(Large))
	}
	var got []*Buf
	for {
		x := a.Get(Std)
		if x == nil {
			break
		}
		got = append(got, x)
	}
	if len(got) != 10 || b.Get(Small) != nil || b.Get(Large) != nil {
		t.Fatalf("%d buffers within a limit of 10", len(got))
	}
	r1, r2 := a.GetReserve(Std), a.GetReserve(Std)
	if r1 == nil || r2 == nil || a.GetReserve(Std) != nil || a.GetReserve(Large) != nil {
		t.Fatal("reserve of two")
	}
	got[0].Release()
	if x := b.Get(Std); x == nil { // nothing stays in a's cache
		t.Fatal("a released buffer does not reach the other loop")
	} else {
		x.Release()
	}
	r1.Release()
	if r1 = a.GetReserve(Std); r1 == nil {
		t.Fatal("room after a release")
	}
	for _, x := range got[1:] {
		x.Release()
	}
	r1.Release()
	r2.Release()
	// Unused storage of one class makes room for another.
	if x := a.Get(Large); x == nil {
		t.Fatal("storage of another class is not given up")
	} else {
		x.Release()
	}
	st := s.Stats()
	if st[Std].Failed < 2 || st[Std].Emergency < 2 || st[Std].Used != 0 || st[Std].Peak < 10 {
		t.Fatalf("%+v", st[Std])
	}
	if a.Close()+b.Close() != 0 {
		t.Fatal("leak")
	}
	if st := s.Stats(); st[Std].Emergency < 2 || st[Std].Used != 0 {
		t.Fatal("counts of a closed pool are lost")
	}
}

func TestFaultInjection(t *testing.T) {
	count := func() (fails int, pattern uint64) {
		p := NewShared(Config{FailPercent: 20, FailSeed: 7}).NewPool()
		for i := range 10_000 {
			if b := p.Get(Std); b != nil {
				b.Release()
			} else {
				fails++
				pattern = pattern*31 + uint64(i)
			}
		}
		return
	}
	n, pat := count()
	if n < 1500 || n > 2500 {
		t.Fatalf("%d failures of 10000 at 20 %%", n)
	}
	if m, pat2 := count(); m != n || pat != pat2 {
		t.Fatal("the same seed gives other failures")
	}
}

func TestTrim(t *testing.T) {
	s := NewShared(Config{})
	p := s.NewPool()
	var got []*Buf
	for range 500 {
		got = append(got, p.Get(Std))
	}
	for _, b := range got {
		b.Release()
	}
	if n := s.Stats()[Std].Allocated; n < 500 {
		t.Fatal(n)
	}
	p.Trim()
	s.Trim()
	if n := s.Stats()[Std].Allocated; n != 0 {
		t.Fatalf("%d buffers left after Trim", n)
	}
	b := p.Get(Std)
	s.Trim()
	b.Append([]byte("still there"))
	b.Release()
}

func TestLoopsShare(t *testing.T) {
	s := NewShared(Config{Limit: 64})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Add(1)
		p := s.NewPool()
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(uint64(i), 0))
			var q Queue
			for range 20_000 {
				if b := p.Get(Class(rng.IntN(int(Classes)))); b != nil {
					b.Append([]byte{byte(i)})
					q.Push(b)
				}
				if q.Len() > 0 && rng.IntN(2) == 0 {
					b := q.Pop()
					if b.Bytes()[0] != byte(i) {
						t.Error("two loops have one buffer")
					}
					b.Release()
				}
				if rng.IntN(100) == 0 {
					s.Stats()
					s.Trim()
				}
			}
			q.Clear()
			if n := p.Close(); n != 0 {
				t.Errorf("%d left", n)
			}
		}()
	}
	wg.Wait()
	s.Trim()
	for _, st := range s.Stats() {
		if st.Used != 0 || st.Allocated != 0 {
			t.Errorf("%+v", st)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	p := NewShared(Config{}).NewPool()
	var q Queue
	work := func() {
		for range 20 {
			b := p.Get(Std)
			b.Append([]byte("some bytes"))
			q.Push(b.Split(4))
			q.Push(b.Retain())
			q.Push(b)
		}
		q.Discard(q.Bytes())
	}
	work()
	if n := testing.AllocsPerRun(100, work); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func BenchmarkGetRelease(b *testing.B) {
	p := NewShared(Config{}).NewPool()
	b.ReportAllocs()
	for range b.N {
		p.Get(Std).Release()
	}
}
