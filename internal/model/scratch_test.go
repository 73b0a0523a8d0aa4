package model

import (
	"bytes"
	"testing"
)

func TestScratch(t *testing.T) {
	pool := new(ScratchPool)
	s := NewScratch(pool, 1000)
	start := s.Mark()
	a := append(s.Grab(), "first"...)
	inner := s.Mark()
	b := s.Copy([]byte("second")) // while the first one is being made
	if string(a) != "first" || string(b) != "second" {
		t.Fatalf("%q %q", a, b)
	}
	s.Release(inner)
	a = append(a, " more"...)
	a, ok := s.Keep(a)
	c := s.Copy([]byte("third"))
	if !ok || string(a) != "first more" || string(c) != "third" {
		t.Fatalf("%q %q", a, c)
	}
	if _, ok := s.Keep(append(s.Grab(), bytes.Repeat([]byte("x"), 1001)...)); ok {
		t.Error("a piece above the limit was kept")
	}
	if s.Alloc(1001) != nil {
		t.Error("a piece above the limit was made")
	}
	for range 200 { // several chunks
		copy(s.Alloc(1000), "y")
	}
	if string(a) != "first more" || string(c) != "third" {
		t.Fatalf("%q %q", a, c)
	}
	s.Release(start)
	if len(s.chunks) != 0 || len(pool.free) == 0 {
		t.Errorf("%d chunks kept, %d in the pool", len(s.chunks), len(pool.free))
	}
	n := testing.AllocsPerRun(100, func() {
		m := s.Mark()
		b, _ := s.Keep(append(s.Grab(), "abc"...))
		s.Copy(b)
		s.Release(m)
	})
	if n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestVarsLimits(t *testing.T) {
	sess := new(Vars)
	txn := &Vars{Up: sess}
	v := Value{Type: TypeStr, B: []byte("0123456789")}
	size := int64(VarOverhead + 10)
	if !txn.Set("a", &v, size, 2*size) || txn.Set("b", &v, size, 2*size) {
		t.Error("the limit of the inner scope does not count")
	}
	if !sess.Set("c", &v, 2*size) || sess.Set("d", &v, 2*size) {
		t.Error("the limit of the outer scope does not count what is inside")
	}
	if txn.Size() != size || sess.Size() != 2*size {
		t.Errorf("%d, %d", txn.Size(), sess.Size())
	}
	v.B[0] = 'x'
	if got := txn.Get("a"); string(got.B) != "0123456789" {
		t.Errorf("the variable shares memory: %q", got.B)
	}
	txn.Reset()
	if txn.Get("a") != nil || sess.Size() != size {
		t.Errorf("after a reset: %d", sess.Size())
	}
	if !sess.Unset("c") || sess.Unset("c") || sess.Size() != 0 {
		t.Error("unset")
	}
}
