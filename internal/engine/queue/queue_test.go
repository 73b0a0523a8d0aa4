package queue

import (
	"sync"
	"testing"
)

type srv struct{ name string }

func TestOrderAndRemove(t *testing.T) {
	var q Queue[srv]
	var woken []int
	ps := make([]*Pending[srv], 4)
	for i := range ps {
		ps[i] = &Pending[srv]{}
		ps[i].Wake = func() { woken = append(woken, i) }
		if before := q.Push(ps[i]); before != int64(i) {
			t.Fatalf("push %d: %d before it", i, before)
		}
	}
	if !q.Remove(ps[1]) || q.Remove(ps[1]) {
		t.Fatal("remove must succeed once")
	}
	s := &srv{"s"}
	for range 3 {
		if !q.Assign(s) {
			t.Fatal("somebody waits")
		}
	}
	if q.Assign(s) || q.Len() != 0 || q.Peak() != 4 {
		t.Fatalf("len %d peak %d", q.Len(), q.Peak())
	}
	if len(woken) != 3 || woken[0] != 0 || woken[1] != 2 || woken[2] != 3 {
		t.Fatalf("order %v", woken)
	}
	if ps[1].Server() != nil || ps[0].Server() != s {
		t.Fatal("assignment")
	}
	ps[0].Reset()
	if ps[0].Server() != nil {
		t.Fatal("reset")
	}
}

// Either the remover or the assigner wins, never both, never neither.
func TestRemoveRacesAssign(t *testing.T) {
	for range 2000 {
		var q Queue[srv]
		p := &Pending[srv]{Wake: func() {}}
		q.Push(p)
		var removed, assigned bool
		var wg sync.WaitGroup
		wg.Go(func() { removed = q.Remove(p) })
		wg.Go(func() { assigned = q.Assign(&srv{}) })
		wg.Wait()
		if removed == assigned || (p.Server() != nil) != assigned {
			t.Fatalf("removed %v assigned %v server %v", removed, assigned, p.Server())
		}
	}
}
