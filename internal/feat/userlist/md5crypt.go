package userlist

import (
	"crypto/md5"
	"strings"
)

// md5Crypt is the algorithm of FreeBSD ($1$).
type md5Crypt struct{ salt, want string }

const (
	md5Rounds  = 1000
	md5MaxSalt = 8
	md5Magic   = "$1$"
)

func parseMD5(s string) (hash, error) {
	salt, want, ok := strings.Cut(s, "$")
	if !ok || len(salt) > md5MaxSalt || !digits64(want, 22) {
		return nil, errFormat
	}
	return &md5Crypt{salt, want}, nil
}

func (h *md5Crypt) cost() int { return 1 }

func (h *md5Crypt) match(password []byte) bool {
	a, salt := md5.New(), []byte(h.salt)
	for _, p := range [][]byte{password, salt, password} {
		a.Write(p)
	}
	final := a.Sum(nil)
	a.Reset()
	a.Write(password)
	a.Write([]byte(md5Magic))
	a.Write(salt)
	writeRepeated(a, final, len(password))
	zero := []byte{0}
	for n := len(password); n > 0; n >>= 1 {
		switch {
		case n&1 != 0:
			a.Write(zero)
		case len(password) > 0:
			a.Write(password[:1])
		}
	}
	final = a.Sum(final[:0])
	for i := range md5Rounds {
		a.Reset()
		if i&1 != 0 {
			a.Write(password)
		} else {
			a.Write(final)
		}
		if i%3 != 0 {
			a.Write(salt)
		}
		if i%7 != 0 {
			a.Write(password)
		}
		if i&1 != 0 {
			a.Write(final)
		} else {
			a.Write(password)
		}
		final = a.Sum(final[:0])
	}
	var out []byte
	for _, o := range [][3]int{{0, 6, 12}, {1, 7, 13}, {2, 8, 14}, {3, 9, 15}, {4, 10, 5}} {
		out = append64(out, uint32(final[o[0]])<<16|uint32(final[o[1]])<<8|uint32(final[o[2]]), 4)
	}
	return same(append64(out, uint32(final[11]), 2), h.want)
}
