package config

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"

	"weir/internal/base/addr"
)

// anonKinds says how the words after a keyword are shown in an anonymised
// dump: 'i' an identifier, hashed; 'a' an address, hashed; 'p' a path, hashed;
// 'h' a bare hash; '=' as it is; '-' the rest is left out. Keywords without
// entry show two words and leave out the rest.
var anonKinds = map[string]string{
	"acl":             "i=-",
	"anonkey":         "-",
	"bind":            "a-",
	"cluster-secret":  "-",
	"cookie":          "i=-",
	"default_backend": "i-",
	"dgram-bind":      "a-",
	"errorfile":       "=p-",
	"group":           "i-",
	"log":             "a-",
	"mailer":          "ia-",
	"nameserver":      "ia-",
	"peer":            "ia-",
	"presetenv":       "=-",
	"redirect":        "=p-",
	"server":          "ia-",
	"server-template": "i=-",
	"setenv":          "=-",
	"source":          "a-",
	"stats auth":      "h-",
	"stats socket":    "a-",
	"use-server":      "i-",
	"use_backend":     "i-",
	"user":            "i-",
}

// anonymise writes the words of a line so that they may be shown to others.
func anonymise(b *strings.Builder, key uint32, words []Arg, isSection bool) {
	if len(words) == 0 {
		return
	}
	n, kinds := 1, "==-"
	if isSection {
		kinds = "i=i-"
	}
	name := words[0].Text
	if k, ok := anonKinds[name]; ok && !isSection {
		kinds = k
	} else if len(words) > 1 && !isSection {
		if k, ok := anonKinds[name+" "+words[1].Text]; ok {
			n, kinds = 2, k
		}
	}
	for i, w := range words {
		kind := byte('=')
		if i >= n {
			kind = kinds[min(i-n, len(kinds)-1)]
		}
		switch kind {
		case 'i':
			fmt.Fprintf(b, "ID(%06x) ", anonHash(key, w.Text))
		case 'p':
			fmt.Fprintf(b, "PATH(%06x) ", anonHash(key, w.Text))
		case 'h':
			fmt.Fprintf(b, "%06x ", anonHash(key, w.Text))
		case 'a':
			b.WriteString(anonAddress(key, w.Text) + " ")
		case '-':
			b.WriteString("[...]")
			return
		default:
			b.WriteString(requote(w.Text) + " ")
		}
	}
}

// anonAddress hides an address but for its port, its form and local ones.
func anonAddress(key uint32, s string) string {
	a, err := addr.Parse(s)
	if err != nil || strings.Contains(s, ",") {
		return fmt.Sprintf("%06x", anonHash(key, s))
	}
	switch {
	case a.Family == addr.FD, a.Family == addr.SockPair, a.Family.IsIP() && a.Any,
		a.IP.IsLoopback(), a.Host == "localhost", s == "global", s == "stdout", s == "stderr":
		return s
	case !a.IP.IsValid():
		return fmt.Sprintf("%06x", anonHash(key, s))
	}
	form := "IPV4"
	if a.IP.Is6() {
		form = "IPV6"
	}
	out := fmt.Sprintf("%s(%06x)", form, anonHash(key, a.Host))
	if a.PortKind != addr.NoPort {
		out += fmt.Sprintf(":%d", a.Port)
	}
	return out
}

// anonHash is XXH32 with the key as seed, cut to 24 bits: the hash that the
// runtime's anonymised mode uses as well.
func anonHash(key uint32, s string) uint32 { return xxh32([]byte(s), key) & 0xffffff }

const (
	xxPrime1 = 2654435761
	xxPrime2 = 2246822519
	xxPrime3 = 3266489917
	xxPrime4 = 668265263
	xxPrime5 = 374761393
)

func xxh32(p []byte, seed uint32) uint32 {
	n := uint32(len(p))
	h := seed + xxPrime5
	if len(p) >= 16 {
		v := [4]uint32{seed, seed, seed, seed}
		v[0] += 0x24234428 // xxPrime1 + xxPrime2 modulo 2^32
		v[1] += xxPrime2
		v[3] -= xxPrime1
		for len(p) >= 16 {
			for i := range v {
				v[i] = bits.RotateLeft32(v[i]+binary.LittleEndian.Uint32(p[4*i:])*xxPrime2, 13) * xxPrime1
			}
			p = p[16:]
		}
		h = bits.RotateLeft32(v[0], 1) + bits.RotateLeft32(v[1], 7) + bits.RotateLeft32(v[2], 12) + bits.RotateLeft32(v[3], 18)
	}
	h += n
	for ; len(p) >= 4; p = p[4:] {
		h = bits.RotateLeft32(h+binary.LittleEndian.Uint32(p)*xxPrime3, 17) * xxPrime4
	}
	for _, c := range p {
		h = bits.RotateLeft32(h+uint32(c)*xxPrime5, 11) * xxPrime1
	}
	h ^= h >> 15
	h *= xxPrime2
	h ^= h >> 13
	h *= xxPrime3
	return h ^ h>>16
}

// AnonID hides a name with a key; 0 leaves it as it is, as an empty name is in any case.
func AnonID(key uint32, name string) string {
	if key == 0 || name == "" {
		return name
	}
	return fmt.Sprintf("%06x", anonHash(key, name))
}

// AnonPath hides the name of a file with a key; 0 leaves it as it is.
func AnonPath(key uint32, name string) string { return AnonID(key, name) }

// AnonAddr hides an address with a key, but for its port, its form and local ones; 0 leaves it as it is.
func AnonAddr(key uint32, text string) string {
	if key == 0 || text == "" {
		return text
	}
	return anonAddress(key, text)
}
