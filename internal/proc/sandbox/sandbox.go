// Package sandbox gives up what the process no longer needs: the terminal
// ([Detach]), then the file system, the user and the capabilities ([Enter]).
//
// The order is the reference's: chroot, supplementary groups, group, user,
// capabilities, and last what keeps the process from gaining anything back. A
// step that fails ends the start; there is no half-confined process.
package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Plan says what to give up.
type Plan struct {
	Chroot     string // folder; "auto": an unnamed empty one; "": none
	UID, GID   int    // -1: unchanged
	Caps       []string
	Dumpable   bool // allow core files after the change of user
	NoNewPrivs bool // ignore set-uid programs from now on
	// BeforeDrop, if any, runs in the jail with the privileges of the start.
	BeforeDrop func()
}

// capabilities are the names that setcap accepts.
var capabilities = map[string]uint{
	"cap_net_admin":        unix.CAP_NET_ADMIN,
	"cap_net_bind_service": unix.CAP_NET_BIND_SERVICE,
	"cap_net_raw":          unix.CAP_NET_RAW,
	"cap_sys_admin":        unix.CAP_SYS_ADMIN,
}

// Capabilities lists the names that setcap accepts.
func Capabilities() []string {
	return []string{"cap_net_raw", "cap_net_admin", "cap_net_bind_service", "cap_sys_admin"}
}

// Enter carries out the plan for all threads of the process. The warnings are
// sentences about what was not possible and does not matter enough to stop.
// After an error the process must end.
func Enter(p Plan) (warnings []string, err error) {
	caps, err := capMask(p.Caps)
	if err != nil {
		return nil, err
	}
	preload()
	if err := enterJail(p.Chroot); err != nil {
		return nil, err
	}
	if p.BeforeDrop != nil {
		p.BeforeDrop()
	}
	root := syscall.Geteuid() == 0
	if p.UID >= 0 || p.GID >= 0 {
		warnings = dropGroups(root)
	}
	if p.GID >= 0 {
		if err := syscall.Setgid(p.GID); err != nil {
			return warnings, fmt.Errorf("cannot set gid %d: %w", p.GID, err)
		}
	}
	leavesRoot := root && p.UID > 0
	if leavesRoot && caps != 0 {
		if err := prctl(unix.PR_SET_KEEPCAPS, 1); err != nil {
			return warnings, fmt.Errorf("cannot keep capabilities: %w", err)
		}
	}
	if p.UID >= 0 {
		if err := syscall.Setuid(p.UID); err != nil {
			return warnings, fmt.Errorf("cannot set uid %d: %w", p.UID, err)
		}
	}
	if caps != 0 && (leavesRoot || !root) {
		if err := setCaps(caps); err != nil {
			return warnings, fmt.Errorf("cannot keep the capabilities %s: %w", strings.Join(p.Caps, ","), err)
		}
	}
	return append(warnings, seal(p)...), nil
}

// dropGroups gives up supplementary groups. Only root may; for others it is
// worth a word when there are any.
func dropGroups(root bool) []string {
	if err := syscall.Setgroups(nil); err == nil {
		return nil
	} else if groups, gerr := syscall.Getgroups(); !root && gerr == nil && len(groups) == 0 {
		return nil
	} else {
		return []string{fmt.Sprintf("supplementary groups cannot be dropped (%v): "+
			"'gid' and 'group' are of little use to a process that does not start as root", err)}
	}
}

// seal sets what keeps the process from gaining privileges back.
func seal(p Plan) (warnings []string) {
	if p.Dumpable {
		if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil {
			warnings = append(warnings, fmt.Sprintf("the process cannot be made dumpable: %v", err))
		}
	}
	if p.NoNewPrivs {
		if err := prctl(unix.PR_SET_NO_NEW_PRIVS, 1); err != nil {
			warnings = append(warnings, fmt.Sprintf("set-uid programs cannot be disabled: %v", err))
		}
	}
	return warnings
}

// preload makes the libraries read the files that they would look for later,
// when the jail hides them.
func preload() { _ = time.Now().Local().String() }

// enterJail changes the root folder.
func enterJail(dir string) error {
	switch dir {
	case "":
		return nil
	case "auto":
		return enterUnnamedJail()
	}
	if err := os.Chdir(dir); err != nil {
		return fmt.Errorf("cannot chroot to %s: %w", dir, bare(err))
	}
	if err := syscall.Chroot("."); err != nil {
		return fmt.Errorf("cannot chroot to %s: %w", dir, err)
	}
	return toRoot(dir)
}

// enterUnnamedJail makes an empty folder, deletes its name and moves in:
// nothing can be created in it any more.
func enterUnnamedJail() error {
	dir, err := os.MkdirTemp("", "weir.")
	if err != nil {
		return fmt.Errorf("cannot make a folder for the chroot: %w", err)
	}
	err = os.Chdir(dir)
	if rmErr := os.Remove(dir); err == nil {
		err = rmErr
	}
	if err != nil {
		return fmt.Errorf("cannot chroot to %s: %w", dir, bare(err))
	}
	if err := syscall.Chroot("."); err != nil {
		return fmt.Errorf("cannot chroot to %s: %w", dir, err)
	}
	return toRoot(dir)
}

func toRoot(dir string) error {
	if err := os.Chdir("/"); err != nil {
		return fmt.Errorf("cannot enter the root of the chroot %s: %w", dir, bare(err))
	}
	return nil
}

// bare strips operation and path, which the message already has.
func bare(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// capMask turns names into a set of capabilities.
func capMask(names []string) (mask uint64, err error) {
	for _, n := range names {
		bit, ok := capabilities[n]
		if !ok {
			return 0, fmt.Errorf("unknown capability '%s'; known are: %s", n, strings.Join(Capabilities(), ", "))
		}
		mask |= 1 << bit
	}
	return mask, nil
}

// prctl sets a per-thread attribute on every thread. Programs built with cgo
// cannot; there the calling thread alone is reached.
func prctl(option, value int) error {
	_, _, errno := syscall.AllThreadsSyscall6(syscall.SYS_PRCTL, uintptr(option), uintptr(value), 0, 0, 0, 0)
	if errno == syscall.ENOTSUP {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		return unix.Prctl(option, uintptr(value), 0, 0, 0)
	}
	if errno != 0 {
		return errno
	}
	return nil
}
