package convdata

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"fmt"
	"strconv"
	"strings"

	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	sample.AddConv(
		sample.Conv{Name: "digest", Args: "string", In: model.TypeBin, Out: model.TypeBin,
			Help: "message digest", Check: checkDigest, Run: runDigest},
		sample.Conv{Name: "hmac", Args: "string,string", In: model.TypeBin, Out: model.TypeBin,
			Help: "message authentication code", Check: checkHMAC, Run: runHMAC},
		sample.Conv{Name: "sha1", In: model.TypeBin, Out: model.TypeBin, Help: "SHA-1 digest",
			Run: func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool { return sum(tx, hashes["sha1"], v) }},
		sample.Conv{Name: "sha2", Args: "[integer]", In: model.TypeBin, Out: model.TypeBin,
			Help: "SHA-2 digest of 224, 256, 384 or 512 bits", Check: checkSHA2, Run: runSHA2},
	)
}

// digest is a hash function that takes its whole input at once.
type digest struct {
	block int                        // block size in bytes as HMAC uses it; 0: not for HMAC
	sum   func(dst, p []byte) []byte // appends the digest
}

// hashes are the digests by their plainest names.
var hashes = map[string]*digest{
	"md5":  {64, func(dst, p []byte) []byte { s := md5.Sum(p); return append(dst, s[:]...) }},
	"sha1": {64, func(dst, p []byte) []byte { s := sha1.Sum(p); return append(dst, s[:]...) }},
	"md5-sha1": {64, func(dst, p []byte) []byte {
		m, s := md5.Sum(p), sha1.Sum(p)
		return append(append(dst, m[:]...), s[:]...)
	}},
	"sha224":     {64, func(dst, p []byte) []byte { s := sha256.Sum224(p); return append(dst, s[:]...) }},
	"sha256":     {64, func(dst, p []byte) []byte { s := sha256.Sum256(p); return append(dst, s[:]...) }},
	"sha384":     {128, func(dst, p []byte) []byte { s := sha512.Sum384(p); return append(dst, s[:]...) }},
	"sha512":     {128, func(dst, p []byte) []byte { s := sha512.Sum512(p); return append(dst, s[:]...) }},
	"sha512-224": {128, func(dst, p []byte) []byte { s := sha512.Sum512_224(p); return append(dst, s[:]...) }},
	"sha512-256": {128, func(dst, p []byte) []byte { s := sha512.Sum512_256(p); return append(dst, s[:]...) }},
	"sha3-224":   {144, func(dst, p []byte) []byte { s := sha3.Sum224(p); return append(dst, s[:]...) }},
	"sha3-256":   {136, func(dst, p []byte) []byte { s := sha3.Sum256(p); return append(dst, s[:]...) }},
	"sha3-384":   {104, func(dst, p []byte) []byte { s := sha3.Sum384(p); return append(dst, s[:]...) }},
	"sha3-512":   {72, func(dst, p []byte) []byte { s := sha3.Sum512(p); return append(dst, s[:]...) }},
	"shake128":   {0, func(dst, p []byte) []byte { return append(dst, sha3.SumSHAKE128(p, 16)...) }},
	"shake256":   {0, func(dst, p []byte) []byte { return append(dst, sha3.SumSHAKE256(p, 32)...) }},
	"blake2b512": {128, appendBLAKE2b},
	"blake2s256": {64, appendBLAKE2s},
	"ripemd160":  {64, appendRIPEMD160},
	"sm3":        {64, appendSM3},
}

// aliases are other names that OpenSSL has for them, in lower case.
var aliases = map[string]string{
	"ssl3-md5": "md5", "rsa-md5": "md5", "md5withrsaencryption": "md5", "1.2.840.113549.2.5": "md5",
	"sha-1": "sha1", "ssl3-sha1": "sha1", "rsa-sha1": "sha1", "rsa-sha1-2": "sha1", "sha1withrsaencryption": "sha1",
	"1.3.14.3.2.26": "sha1",
	"sha-224":       "sha224", "sha2-224": "sha224", "rsa-sha224": "sha224", "sha224withrsaencryption": "sha224", "2.16.840.1.101.3.4.2.4": "sha224",
	"sha-256": "sha256", "sha2-256": "sha256", "rsa-sha256": "sha256", "sha256withrsaencryption": "sha256", "2.16.840.1.101.3.4.2.1": "sha256",
	"sha-384": "sha384", "sha2-384": "sha384", "rsa-sha384": "sha384", "sha384withrsaencryption": "sha384", "2.16.840.1.101.3.4.2.2": "sha384",
	"sha-512": "sha512", "sha2-512": "sha512", "rsa-sha512": "sha512", "sha512withrsaencryption": "sha512", "2.16.840.1.101.3.4.2.3": "sha512",
	"sha-512/224": "sha512-224", "sha2-512/224": "sha512-224", "rsa-sha512/224": "sha512-224", "sha512-224withrsaencryption": "sha512-224",
	"2.16.840.1.101.3.4.2.5": "sha512-224",
	"sha-512/256":            "sha512-256", "sha2-512/256": "sha512-256", "rsa-sha512/256": "sha512-256", "sha512-256withrsaencryption": "sha512-256",
	"2.16.840.1.101.3.4.2.6": "sha512-256",
	"rsa-sha3-224":           "sha3-224", "id-rsassa-pkcs1-v1_5-with-sha3-224": "sha3-224", "2.16.840.1.101.3.4.2.7": "sha3-224",
	"rsa-sha3-256": "sha3-256", "id-rsassa-pkcs1-v1_5-with-sha3-256": "sha3-256", "2.16.840.1.101.3.4.2.8": "sha3-256",
	"rsa-sha3-384": "sha3-384", "id-rsassa-pkcs1-v1_5-with-sha3-384": "sha3-384", "2.16.840.1.101.3.4.2.9": "sha3-384",
	"rsa-sha3-512": "sha3-512", "id-rsassa-pkcs1-v1_5-with-sha3-512": "sha3-512", "2.16.840.1.101.3.4.2.10": "sha3-512",
	"shake-128": "shake128", "2.16.840.1.101.3.4.2.11": "shake128", "shake-256": "shake256", "2.16.840.1.101.3.4.2.12": "shake256",
	"blake2b-512": "blake2b512", "blake2s-256": "blake2s256",
	"ripemd": "ripemd160", "rmd160": "ripemd160", "ripemd-160": "ripemd160", "rsa-ripemd160": "ripemd160", "ripemd160withrsa": "ripemd160",
	"1.3.36.3.2.1": "ripemd160",
	"rsa-sm3":      "sm3", "sm3withrsaencryption": "sm3", "1.2.156.10197.1.401": "sm3",
}

// legacy are digests that OpenSSL names, but computes only with its legacy provider loaded.
var legacy = map[string]bool{"md4": true, "rsa-md4": true, "md4withrsaencryption": true, "whirlpool": true}

// findDigest looks a digest up by any name that OpenSSL has for it; the case of letters does not count.
func findDigest(name string) (*digest, error) {
	key := strings.ToLower(name)
	if plain := aliases[key]; plain != "" {
		key = plain
	}
	if d := hashes[key]; d != nil {
		return d, nil
	}
	if legacy[key] {
		return nil, fmt.Errorf("digest '%s' is broken and not available", name)
	}
	return nil, fmt.Errorf("'%s' is no message digest that OpenSSL knows, such as sha256", name)
}

// sum makes v its digest.
func sum(tx *model.Txn, d *digest, v *model.Value) bool {
	b, ok := tx.Scratch.Keep(d.sum(tx.Scratch.Grab(), v.B))
	if ok {
		v.SetBin(b)
	}
	return ok
}

func checkDigest(_ *sample.ArgCheck, a []sample.Arg) error {
	d, err := findDigest(a[0].Str)
	a[0].Data = d
	return err
}

func runDigest(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	return sum(tx, a[0].Data.(*digest), v)
}

func checkSHA2(_ *sample.ArgCheck, a []sample.Arg) error {
	bits := int64(256)
	if len(a) == 0 {
		return nil
	}
	if a[0].Str != "" {
		bits = a[0].Int
	}
	switch bits {
	case 224, 256, 384, 512:
		a[0].Data = hashes["sha"+strconv.FormatInt(bits, 10)]
		return nil
	}
	return fmt.Errorf("there is no SHA-2 of %d bits; 224, 256, 384 and 512 exist", bits)
}

func runSHA2(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	if len(a) == 0 {
		return sum(tx, hashes["sha256"], v)
	}
	return sum(tx, a[0].Data.(*digest), v)
}

func checkHMAC(_ *sample.ArgCheck, a []sample.Arg) error {
	d, err := findDigest(a[0].Str)
	if err != nil {
		return err
	}
	if d.block == 0 {
		return fmt.Errorf("digest '%s' cannot authenticate: its output has no fixed length", a[0].Str)
	}
	a[0].Data = d
	a[1].Data, err = base64Operand("the key", a[1].Str)
	return err
}

func runHMAC(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	key, ok := a[1].Data.(*operand).decoded(tx)
	if !ok {
		return false
	}
	b := a[0].Data.(*digest).mac(tx, key, v.B)
	v.SetBin(b)
	return true
}

// maxDigest is the longest digest, in bytes.
const maxDigest = 64

// mac returns the HMAC (RFC 2104) of p. The result and the room that it works in are of the scratch memory; when that cannot hold
// all of p, it allocates.
func (d *digest) mac(tx *model.Txn, key, p []byte) []byte {
	result := tx.Scratch.Alloc(maxDigest)
	mark := tx.Scratch.Mark()
	defer tx.Scratch.Release(mark)
	n := 2*d.block + 2*maxDigest + len(p)
	buf := tx.Scratch.Alloc(n)
	if buf == nil {
		buf = make([]byte, n)
	}
	outer, rest := buf[:d.block+maxDigest], buf[d.block+maxDigest:]
	short, inner := rest[:maxDigest], rest[maxDigest:]
	if len(key) > d.block {
		key = d.sum(short[:0], key)
	}
	clear(outer)
	copy(outer, key)
	for i := range d.block {
		inner[i] = outer[i] ^ 0x36
		outer[i] ^= 0x5c
	}
	copy(inner[d.block:], p)
	return d.sum(result[:0], d.sum(outer[:d.block], inner))
}
