package stats

import (
	"testing"
	"time"
)

func TestGauge(t *testing.T) {
	var g Gauge
	g.Inc()
	g.Inc()
	g.Dec()
	if g.Cur() != 1 || g.Total() != 2 || g.Peak() != 2 {
		t.Fatal(g.Cur(), g.Total(), g.Peak())
	}
}

func TestRateSlides(t *testing.T) {
	var r Rate
	base := int64(100 * time.Second)
	for range 10 {
		r.Add(base)
	}
	if n := r.Read(base); n != 10 {
		t.Fatalf("same second: %d", n)
	}
	if n := r.Read(base + int64(1500*time.Millisecond)); n != 5 {
		t.Fatalf("half a second later: %d", n)
	}
	if n := r.Read(base + int64(5*time.Second)); n != 0 {
		t.Fatalf("long after: %d", n)
	}
}

func TestRateWait(t *testing.T) {
	var r Rate
	base := int64(200 * time.Second)
	for range 3 {
		if w := r.Wait(base, 3); w != 0 {
			t.Fatalf("below the limit: wait %v", w)
		}
		r.Add(base)
	}
	if w := r.Wait(base, 3); w != time.Second {
		t.Fatalf("at the limit: wait %v", w)
	}
	if w := r.Wait(base, 0); w != 0 {
		t.Fatal("no limit never waits")
	}
}

func TestSumAndResponse(t *testing.T) {
	shards := make([]Proxy, 2)
	shards[0].Response(200)
	shards[1].Response(204)
	shards[1].Response(999)
	if n := Sum(shards, func(p *Proxy) *Counter { return &p.Responses[2] }); n != 2 {
		t.Fatal(n)
	}
	if n := Sum(shards, func(p *Proxy) *Counter { return &p.Responses[0] }); n != 1 {
		t.Fatal(n)
	}
}
