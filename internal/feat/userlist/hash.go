package userlist

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"strings"
)

// hash is a password as crypt(3) stores it.
type hash interface {
	// match works the hash of a password out and compares.
	match(password []byte) bool
	// cost is a rough estimate of one match in milliseconds.
	cost() int
}

// itoa64 are the digits of crypt(3).
const itoa64 = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

var errFormat = errors.New("this is no hash of a password; if it is the password itself, the word for it is 'insecure-password'")

// foreign are the algorithms of crypt(3) that are known and not served.
var foreign = map[string]string{
	"y": "yescrypt", "gy": "gost-yescrypt", "7": "scrypt", "sha1": "SHA-1", "md5": "SunMD5", "md5,": "SunMD5", "3": "NT", "2x": "the faulty bcrypt",
}

// parseHash reads a hash by its prefix: $1$ MD5, $2a$ $2b$ $2y$ bcrypt, $5$ SHA-256, $6$ SHA-512, none DES.
func parseHash(s string) (hash, error) {
	if !strings.HasPrefix(s, "$") {
		if strings.HasPrefix(s, "_") {
			return nil, errors.New("the extended DES algorithm is not supported; use SHA-512 ($6$)")
		}
		return parseDES(s)
	}
	id, rest, ok := strings.Cut(s[1:], "$")
	if !ok {
		return nil, errFormat
	}
	switch id {
	case "1":
		return parseMD5(rest)
	case "2a", "2b", "2y":
		return parseBcrypt(id, rest)
	case "5", "6":
		return parseSHA(id, rest)
	}
	if name, ok := foreign[id]; ok {
		return nil, fmt.Errorf("the algorithm %s ($%s$) is not supported; use SHA-512 ($6$)", name, id)
	}
	return nil, fmt.Errorf("there is no algorithm $%s$; use SHA-512 ($6$)", id)
}

// digits64 checks the text of a hash.
func digits64(s string, length int) bool {
	if len(s) != length {
		return false
	}
	for i := range len(s) {
		if strings.IndexByte(itoa64, s[i]) < 0 {
			return false
		}
	}
	return true
}

// append64 appends n digits of v, the lowest six bits first.
func append64(dst []byte, v uint32, n int) []byte {
	for range n {
		dst = append(dst, itoa64[v&63])
		v >>= 6
	}
	return dst
}

func same(a []byte, b string) bool { return subtle.ConstantTimeCompare(a, []byte(b)) == 1 }
