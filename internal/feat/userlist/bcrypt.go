package userlist

import (
	"encoding/base64"
	"encoding/binary"
	"math/big"
	"strconv"
	"strings"
	"sync"
)

// bcryptHash is the algorithm of OpenBSD ($2b$ and its older names), after N. Provos and D. Mazières, "A Future-Adaptable
// Password Scheme".
type bcryptHash struct {
	log  int
	salt []byte
	want string
}

// bcryptDigits is base64 with the digits of this algorithm.
var bcryptDigits = base64.NewEncoding("./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789").WithPadding(base64.NoPadding)

const (
	bcryptSalt  = 22 // characters, of 16 bytes
	bcryptSum   = 31 // characters, of 23 bytes
	bcryptMax   = 72 // bytes of a password that count
	bcryptMagic = "OrpheanBeholderScryDoubt"
)

func parseBcrypt(_, s string) (hash, error) {
	n, rest, ok := strings.Cut(s, "$")
	log, err := strconv.Atoi(n)
	if !ok || err != nil || len(n) != 2 || log < 4 || log > 31 || len(rest) != bcryptSalt+bcryptSum {
		return nil, errFormat
	}
	salt, err := bcryptDigits.DecodeString(rest[:bcryptSalt])
	if err != nil {
		return nil, errFormat
	}
	if _, err := bcryptDigits.DecodeString(rest[bcryptSalt:]); err != nil {
		return nil, errFormat
	}
	return &bcryptHash{log, salt, rest[bcryptSalt:]}, nil
}

func (h *bcryptHash) cost() int { return 1 << h.log / 13 }

func (h *bcryptHash) match(password []byte) bool {
	key := append(make([]byte, 0, bcryptMax+1), password[:min(len(password), bcryptMax)]...)
	if len(key) < bcryptMax {
		key = append(key, 0)
	}
	c := newBlowfish()
	c.expand(key, h.salt)
	for range 1 << h.log {
		c.expand(key, nil)
		c.expand(h.salt, nil)
	}
	sum := []byte(bcryptMagic)
	for i := 0; i < len(sum); i += 8 {
		l, r := binary.BigEndian.Uint32(sum[i:]), binary.BigEndian.Uint32(sum[i+4:])
		for range 64 {
			l, r = c.encrypt(l, r)
		}
		binary.BigEndian.PutUint32(sum[i:], l)
		binary.BigEndian.PutUint32(sum[i+4:], r)
	}
	return same(bcryptDigits.AppendEncode(nil, sum[:23]), h.want)
}

// blowfish is the state of B. Schneier's cipher.
type blowfish struct {
	p [18]uint32
	s [4][256]uint32
}

// fraction is the fraction of pi in binary, as many bits as the state has: the cipher starts from it.
var fraction = sync.OnceValue(func() *blowfish {
	const words, guard = 18 + 4*256, 64
	one := new(big.Int).Lsh(big.NewInt(1), words*32+guard)
	// pi = 16 arctan(1/5) - 4 arctan(1/239)
	pi := new(big.Int).Mul(arctan(one, 5), big.NewInt(16))
	pi.Sub(pi, new(big.Int).Mul(arctan(one, 239), big.NewInt(4)))
	pi.Sub(pi, new(big.Int).Mul(one, big.NewInt(3)))
	b := make([]byte, words*4)
	pi.Rsh(pi, guard).FillBytes(b)
	c := new(blowfish)
	for i := range c.p {
		c.p[i] = binary.BigEndian.Uint32(b[4*i:])
	}
	for i := range c.s {
		for j := range c.s[i] {
			c.s[i][j] = binary.BigEndian.Uint32(b[4*(len(c.p)+256*i+j):])
		}
	}
	return c
})

// arctan returns one times the arc tangent of 1/x.
func arctan(one *big.Int, x int64) *big.Int {
	term := new(big.Int).Div(one, big.NewInt(x))
	sum, square := new(big.Int).Set(term), big.NewInt(x*x)
	for n := int64(3); term.Sign() != 0; n += 2 {
		term.Div(term, square)
		t := new(big.Int).Div(term, big.NewInt(n))
		if n%4 == 3 {
			sum.Sub(sum, t)
		} else {
			sum.Add(sum, t)
		}
	}
	return sum
}

func newBlowfish() *blowfish {
	c := *fraction()
	return &c
}

func (c *blowfish) encrypt(l, r uint32) (uint32, uint32) {
	for i := 0; i < 16; i += 2 {
		l ^= c.p[i]
		r ^= ((c.s[0][l>>24] + c.s[1][l>>16&255]) ^ c.s[2][l>>8&255]) + c.s[3][l&255]
		r ^= c.p[i+1]
		l ^= ((c.s[0][r>>24] + c.s[1][r>>16&255]) ^ c.s[2][r>>8&255]) + c.s[3][r&255]
	}
	return r ^ c.p[17], l ^ c.p[16]
}

// expand mixes a key, and a salt of 16 bytes if there is one, into the state.
func (c *blowfish) expand(key, salt []byte) {
	k := 0
	for i := range c.p {
		var w uint32
		for range 4 {
			w = w<<8 | uint32(key[k])
			if k++; k == len(key) {
				k = 0
			}
		}
		c.p[i] ^= w
	}
	var l, r uint32
	half := 0
	step := func() {
		if salt != nil {
			l ^= binary.BigEndian.Uint32(salt[half:])
			r ^= binary.BigEndian.Uint32(salt[half+4:])
			half ^= 8
		}
		l, r = c.encrypt(l, r)
	}
	for i := 0; i < len(c.p); i += 2 {
		step()
		c.p[i], c.p[i+1] = l, r
	}
	for b := range c.s {
		for i := 0; i < 256; i += 2 {
			step()
			c.s[b][i], c.s[b][i+1] = l, r
		}
	}
}
