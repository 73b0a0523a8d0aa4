// Package userlist holds lists of users, their passwords and groups (manual,
// chapter 12.2), and the section that declares them.
//
// Hashed passwords cost thousands of rounds each time they are checked. A list
// therefore remembers, for each user, the last password that was right - as a
// keyed hash, never the password. A wrong password is always worked out:
// [List.Heavy] tells beforehand whether a check will be expensive, so that the
// caller can move it off the loop.
package userlist

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"sync/atomic"

	"weir/internal/model"
)

// List is a userlist. It is read-only once the configuration is checked, and may be used by several loops.
type List struct {
	Pos    model.Position
	Name   string
	Users  []*User
	Groups []*Group

	byName map[string]*User
	key    [32]byte // of the hashes of passwords that were right
}

// User is one of a list.
type User struct {
	Pos  model.Position
	Name string
	// Groups are the names of the groups that the user belongs to.
	Groups []string

	groups []string               // as written on the user's own line
	plain  []byte                 // insecure-password
	hash   hash                   // password; nil with plain or without any
	usable bool                   // a password is set
	right  atomic.Pointer[digest] // of the last password that was right
}

// Group is one of a list.
type Group struct {
	Pos   model.Position
	Name  string
	users []string // as written on the group's own line
}

type digest [sha256.Size]byte

// maxPassword is the longest password that a hash is worked out for, as crypt(3) has it.
const maxPassword = 511

// slot is where a configuration keeps its lists.
var slot = &model.SlotKey[map[string]*List]{Name: "userlist"}

// Find returns the list of that name, nil when cfg has none.
func Find(cfg *model.Config, name string) *List {
	if cfg == nil {
		return nil
	}
	return slot.Get(&cfg.Slots)[name]
}

// newList returns an empty list with a key of its own.
func newList(pos model.Position, name string) (*List, error) {
	l := &List{Pos: pos, Name: name, byName: make(map[string]*User)}
	_, err := rand.Read(l.key[:])
	return l, err
}

// User returns the user of that name, nil when there is none.
func (l *List) User(name []byte) *User { return l.byName[string(name)] }

// Group returns the group of that name, nil when there is none.
func (l *List) Group(name string) *Group {
	for _, g := range l.Groups {
		if g.Name == name {
			return g
		}
	}
	return nil
}

// Check returns the user of that name when the password is right, else nil.
func (l *List) Check(name, password []byte) *User {
	u := l.User(name)
	switch {
	case u == nil || !u.usable:
		return nil
	case u.hash == nil:
		if subtle.ConstantTimeCompare(u.plain, password) != 1 {
			return nil
		}
		return u
	case len(password) > maxPassword:
		return nil
	}
	d := l.digest(password)
	if u.known(&d) {
		return u
	}
	if !u.hash.match(password) {
		return nil
	}
	u.remember(d)
	return u
}

// Heavy reports whether Check would have to work out a hash.
func (l *List) Heavy(name, password []byte) bool {
	u := l.User(name)
	if u == nil || u.hash == nil || len(password) > maxPassword {
		return false
	}
	d := l.digest(password)
	return !u.known(&d)
}

func (u *User) known(d *digest) bool {
	last := u.right.Load()
	return last != nil && subtle.ConstantTimeCompare(last[:], d[:]) == 1
}

// remember keeps the digest of a password that was right.
func (u *User) remember(d digest) { u.right.Store(&d) }

// digest is a keyed hash of a password: SHA-256 over key, and over key and the hash of the rest again, as HMAC does it.
func (l *List) digest(password []byte) digest {
	var b [2*sha256.Size + maxPassword]byte
	n := copy(b[:], l.key[:])
	n += copy(b[n:], password)
	inner := sha256.Sum256(b[:n])
	n = copy(b[:], l.key[:])
	for i := range b[:n] {
		b[i] ^= 0x5c
	}
	n += copy(b[n:], inner[:])
	return sha256.Sum256(b[:n])
}
