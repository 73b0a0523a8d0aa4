package poll

import (
	"golang.org/x/sys/unix"

	"weir/internal/rt/sys"
)

// accepting is what a listener has under way on io_uring: a few accepts, each with room for the other side's address. A
// multishot accept would need one submission for many connections, but tells no addresses, and asking for one costs a
// system call. A few at a time is also what lets other work have its turn.
type accepting struct {
	peer  [acceptBatch]sys.SockAddr
	armed uint8
	stop  bool
}

func (u *uring) Accept(f *File) {
	if u.stopped {
		return // the listener tries again after the cancellation: there is no again
	}
	a := u.accepts[f]
	if a == nil {
		a = new(accepting)
		u.accepts[f] = a
	}
	a.stop = false
	if !u.started {
		// Before Start nothing can be submitted, and there may be more listeners than room in the queue.
		f.pend |= OpAccept
		return
	}
	for i := range acceptBatch {
		if a.armed&(1<<i) == 0 {
			u.armAccept(f, a, i)
		}
	}
}

func (u *uring) armAccept(f *File, a *accepting, i int) {
	s := u.arm(f, OpAccept, sys.OpAccept)
	s.UserData |= uint64(i) << 6
	s.OpFlags = unix.SOCK_CLOEXEC
	s.Addr, s.Off = a.peer[i].Addr(), a.peer[i].Room()
	a.armed |= 1 << i
}

func (u *uring) stopAccept(f *File) {
	a := u.accepts[f]
	if a == nil || a.stop {
		return
	}
	a.stop = true
	if a.armed == 0 {
		f.pend &^= OpAccept
		return
	}
	for i := range acceptBatch {
		if a.armed&(1<<i) != 0 {
			u.cancel(f.ud(OpAccept) | uint64(i)<<6)
		}
	}
}

// startAccepts arms the accepts that were asked for before Start.
func (u *uring) startAccepts() {
	for f, a := range u.accepts {
		if !a.stop {
			u.Accept(f)
		}
	}
}

// accepted delivers a connection, or the failure of an accept, which ends the others too.
func (u *uring) accepted(f *File, i, res int) {
	u.owed--
	a := u.accepts[f]
	a.armed &^= 1 << i
	switch {
	case res >= 0:
		u.peer = a.peer[i]
		if !a.stop {
			u.armAccept(f, a, i)
		}
	case res == -int(unix.EINTR) && !a.stop:
		u.armAccept(f, a, i)
		return
	default:
		u.stopAccept(f)
	}
	if a.armed == 0 {
		f.pend &^= OpAccept
	}
	f.H.Complete(f, OpAccept, res, nil)
	u.peer = sys.SockAddr{}
}
