package poll

import (
	"weir/internal/base/buf"
	"weir/internal/rt/sys"
)

// A group is the set of buffers of one class that the kernel may pick from for receives.
type group struct {
	ring    *sys.BufRing
	bufs    []*buf.Buf // by buffer number; nil = empty slot
	empty   []uint16   // numbers of empty slots in use
	slots   int        // slots in use
	starved fileList   // receives that found no buffer
	dirty   bool       // buffers were added and not committed, or slots are empty
}

// How many slots a group has at first, and at most: it grows when receives find it empty.
var groupSlots = [buf.Classes]struct{ first, most int }{
	buf.Small: {32, 1024},
	buf.Std:   {32, 1024},
	buf.Large: {8, 128},
}

// group makes the group of class c on first use.
func (u *uring) group(c buf.Class) *group {
	g := &u.groups[c]
	if g.ring == nil {
		most := groupSlots[c].most
		ring, err := u.ring.NewBufRing(uint16(c), most)
		if err != nil {
			// Locked memory is short: the ring that Probe tried was one page, and so is a small one.
			most = 64
			if ring, err = u.ring.NewBufRing(uint16(c), most); err != nil {
				panic("io_uring: no buffer ring: " + err.Error())
			}
		}
		if share := u.pool.Share(c); share > 0 {
			// Buffers that wait for input in vain are lost to everybody else: with a limit, few of them wait.
			most = min(most, max(1, share/8))
		}
		g.ring = ring
		g.bufs = make([]*buf.Buf, most)
		g.empty = make([]uint16, 0, most)
		g.open(groupSlots[c].first)
		u.feed(c)
	}
	return g
}

// open puts n more slots into use, empty.
func (g *group) open(n int) {
	for n = min(n, len(g.bufs)-g.slots); n > 0; n-- {
		g.empty = append(g.empty, uint16(g.slots))
		g.slots++
	}
	g.dirty = true
}

// grow doubles the slots in use.
func (g *group) grow() {
	if len(g.empty) == 0 {
		g.open(g.slots)
	}
}

// take gets the buffer that the kernel has filled and puts another one in its place.
func (g *group) take(p *buf.Pool, c buf.Class, bid uint16) *buf.Buf {
	b := g.bufs[bid]
	if n := p.Get(c); n != nil {
		g.bufs[bid] = n
		g.ring.Add(bid, n.Data())
	} else {
		g.bufs[bid] = nil
		g.empty = append(g.empty, bid)
	}
	g.dirty = true
	return b
}

// feed fills empty slots, makes new buffers visible, and re-arms as many starved receives as there are buffers.
func (u *uring) feed(c buf.Class) {
	g := &u.groups[c]
	for n := len(g.empty); n > 0; n-- {
		b := u.pool.Get(c)
		if b == nil {
			break
		}
		bid := g.empty[n-1]
		g.empty = g.empty[:n-1]
		g.bufs[bid] = b
		g.ring.Add(bid, b.Data())
	}
	g.ring.Commit()
	g.dirty = len(g.empty) > 0
	for n := g.slots - len(g.empty); n > 0 && g.starved.head != nil; n-- {
		f := g.starved.pop()
		f.pend &^= OpRecv
		u.armRecv(f, c)
		u.nudge = true
	}
}

// close takes the buffers back; nothing is under way any more.
func (g *group) close() {
	if g.ring == nil {
		return
	}
	g.ring.Close()
	for i, b := range g.bufs {
		if b != nil {
			b.Release()
			g.bufs[i] = nil
		}
	}
}
