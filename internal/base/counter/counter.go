// Package counter has the counters of one event loop: written by that loop only, without atomic instructions, and
// readable at any time from other threads. Statistics sum the counters of all loops when they are asked for.
//
// A locked instruction costs as much as twenty additions, and a request touches dozens of counters. A counter here is
// an aligned 64-bit word with a single writer, so a reader sees some value that was really written, only perhaps not
// the very latest one. Under the race detector the writes are atomic, so that it sees the intent.
package counter

// A Counter only grows. One writer; Load from anywhere. The zero value is ready.
type Counter struct{ v uint64 }

// Inc adds one. Writer only.
func (c *Counter) Inc() { write(&c.v, c.v+1) }

// Add adds n. Writer only.
func (c *Counter) Add(n uint64) { write(&c.v, c.v+n) }

// Reset sets the counter to zero ("clear counters"). Writer only.
func (c *Counter) Reset() { write(&c.v, 0) }

// Load reads the counter, from any thread.
func (c *Counter) Load() uint64 { return read(&c.v) }

// A Gauge goes up and down. One writer; Load from anywhere. The zero value is ready.
type Gauge struct{ v uint64 }

// Inc adds one. Writer only.
func (g *Gauge) Inc() { write(&g.v, g.v+1) }

// Dec takes one away. Writer only.
func (g *Gauge) Dec() { write(&g.v, g.v-1) }

// Add adds n, which may be negative. Writer only.
func (g *Gauge) Add(n int64) { write(&g.v, g.v+uint64(n)) }

// Set sets the value. Writer only.
func (g *Gauge) Set(n int64) { write(&g.v, uint64(n)) }

// Load reads the gauge, from any thread.
func (g *Gauge) Load() int64 { return int64(read(&g.v)) }

// A Peak keeps the largest value seen. One writer; Load from anywhere. The zero value is ready.
type Peak struct{ v uint64 }

// Note raises the peak to n when n is larger. Writer only.
func (p *Peak) Note(n int64) {
	if n > int64(p.v) {
		write(&p.v, uint64(n))
	}
}

// Reset forgets the peak. Writer only.
func (p *Peak) Reset() { write(&p.v, 0) }

// Load reads the peak, from any thread.
func (p *Peak) Load() int64 { return int64(read(&p.v)) }
