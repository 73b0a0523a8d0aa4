package userlist

import (
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	gohash "hash"
	"strconv"
	"strings"
)

// shaCrypt is SHA-crypt ($5$ and $6$), after its public specification by U. Drepper.
type shaCrypt struct {
	salt   string
	rounds int
	want   string
	long   bool // SHA-512
}

const (
	shaDefaultRounds = 5000
	shaMinRounds     = 1000
	shaMaxRounds     = 999_999_999
	shaMaxSalt       = 16
)

func parseSHA(id, s string) (hash, error) {
	h := &shaCrypt{rounds: shaDefaultRounds, long: id == "6"}
	if r, ok := strings.CutPrefix(s, "rounds="); ok {
		n, rest, ok := strings.Cut(r, "$")
		rounds, err := strconv.Atoi(n)
		if !ok || err != nil || strconv.Itoa(rounds) != n {
			return nil, errFormat
		}
		if rounds < shaMinRounds || rounds > shaMaxRounds {
			return nil, errors.New("the number of rounds must be from 1000 to 999999999")
		}
		h.rounds, s = rounds, rest
	}
	var ok bool
	if h.salt, h.want, ok = strings.Cut(s, "$"); !ok || len(h.salt) > shaMaxSalt {
		return nil, errFormat
	}
	length := 43
	if h.long {
		length = 86
	}
	if !digits64(h.want, length) {
		return nil, errFormat
	}
	return h, nil
}

func (h *shaCrypt) cost() int { return h.rounds / 1500 }

func (h *shaCrypt) match(password []byte) bool {
	if h.long {
		return same(encodeSHA(nil, h.sum(sha512.New(), password), order512), h.want)
	}
	return same(encodeSHA(nil, h.sum(sha256.New(), password), order256), h.want)
}

// sum works the digest out; letters are those of the specification.
func (h *shaCrypt) sum(a gohash.Hash, password []byte) []byte {
	n, salt := a.Size(), []byte(h.salt)
	// B: password, salt, password.
	for _, p := range [][]byte{password, salt, password} {
		a.Write(p)
	}
	b := a.Sum(nil)
	// A: password, salt, as many bytes of B as the password has, then B or the password for each bit of its length.
	a.Reset()
	a.Write(password)
	a.Write(salt)
	writeRepeated(a, b, len(password))
	for k := len(password); k > 0; k >>= 1 {
		if k&1 != 0 {
			a.Write(b)
		} else {
			a.Write(password)
		}
	}
	c := a.Sum(nil)
	// P and S: sequences as long as the password and the salt.
	a.Reset()
	for range password {
		a.Write(password)
	}
	p := repeated(a.Sum(nil), len(password))
	a.Reset()
	for range 16 + int(c[0]) {
		a.Write(salt)
	}
	s := repeated(a.Sum(nil), len(salt))
	for i := range h.rounds {
		a.Reset()
		if i&1 != 0 {
			a.Write(p)
		} else {
			a.Write(c)
		}
		if i%3 != 0 {
			a.Write(s)
		}
		if i%7 != 0 {
			a.Write(p)
		}
		if i&1 != 0 {
			a.Write(c)
		} else {
			a.Write(p)
		}
		c = a.Sum(c[:0])
	}
	return c[:n]
}

func writeRepeated(a gohash.Hash, b []byte, n int) {
	for ; n > len(b); n -= len(b) {
		a.Write(b)
	}
	a.Write(b[:n])
}

func repeated(b []byte, n int) []byte {
	out := make([]byte, 0, n+len(b))
	for len(out) < n {
		out = append(out, b...)
	}
	return out[:n]
}

// The orders in which the bytes of a digest are written, three at a time.
var (
	order256 = [][3]int{{0, 10, 20}, {21, 1, 11}, {12, 22, 2}, {3, 13, 23}, {24, 4, 14}, {15, 25, 5}, {6, 16, 26}, {27, 7, 17}, {18, 28, 8}, {9, 19, 29}, {-1, 31, 30}}
	order512 = [][3]int{
		{0, 21, 42}, {22, 43, 1}, {44, 2, 23}, {3, 24, 45}, {25, 46, 4}, {47, 5, 26}, {6, 27, 48}, {28, 49, 7}, {50, 8, 29}, {9, 30, 51}, {31, 52, 10},
		{53, 11, 32}, {12, 33, 54}, {34, 55, 13}, {56, 14, 35}, {15, 36, 57}, {37, 58, 16}, {59, 17, 38}, {18, 39, 60}, {40, 61, 19}, {62, 20, 41}, {-1, -1, 63},
	}
)

func encodeSHA(dst, sum []byte, order [][3]int) []byte {
	for _, o := range order {
		v, bits := uint32(0), 0
		for _, i := range o {
			v <<= 8
			if i >= 0 {
				v |= uint32(sum[i])
				bits += 8
			}
		}
		dst = append64(dst, v, (bits+5)/6)
	}
	return dst
}
