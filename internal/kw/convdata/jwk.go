package convdata

import (
	"bytes"
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/rsa"
	"errors"
	"fmt"
	"math"
	"math/big"
)

// jweKey is a key that decrypts tokens: a secret, or a private key. It is never changed, so several goroutines may use it.
type jweKey struct {
	secret []byte
	rsa    *rsa.PrivateKey
	ecdh   *ecdh.PrivateKey
}

// keyOf makes a jweKey of the private key of a certificate.
func keyOf(private crypto.PrivateKey) (*jweKey, bool) {
	switch p := private.(type) {
	case *rsa.PrivateKey:
		return &jweKey{rsa: p}, true
	case *ecdsa.PrivateKey:
		k, err := p.ECDH()
		return &jweKey{ecdh: k}, err == nil
	}
	return nil, false
}

var (
	pathKty = compilePath("$.kty")
	pathK   = compilePath("$.k")
	pathCrv = compilePath("$.crv")
	pathX   = compilePath("$.x")
	pathY   = compilePath("$.y")
	pathD   = compilePath("$.d")

	// pathsRSA are the members of a private RSA key, all of which must be there (RFC 7518, 6.3.2).
	pathsRSA = [...]struct {
		name string
		path *jsonPath
	}{
		{"n", compilePath("$.n")}, {"e", compilePath("$.e")}, {"d", pathD}, {"p", compilePath("$.p")}, {"q", compilePath("$.q")},
		{"dp", compilePath("$.dp")}, {"dq", compilePath("$.dq")}, {"qi", compilePath("$.qi")},
	}
)

// parseJWK reads a JSON Web Key (RFC 7517) of type oct, RSA or EC.
func parseJWK(text []byte) (*jweKey, error) {
	kty, ok := jsonText(pathKty, text)
	if !ok {
		return nil, errors.New("the JSON Web Key has no type ('kty')")
	}
	switch string(kty) {
	case "oct":
		k, present, ok := jsonBase64(pathK, text)
		if !present {
			return nil, errors.New("the JSON Web Key has no 'k'")
		}
		if !ok {
			k = nil // decrypts nothing
		}
		return &jweKey{secret: k}, nil
	case "RSA":
		return parseRSAKey(text)
	case "EC":
		return parseECKey(text)
	}
	return nil, fmt.Errorf("the type '%s' of the JSON Web Key is none of oct, RSA and EC", kty)
}

func parseRSAKey(text []byte) (*jweKey, error) {
	var n [len(pathsRSA)]*big.Int
	for i, m := range pathsRSA {
		b, _, ok := jsonBase64(m.path, text)
		if !ok {
			return nil, fmt.Errorf("the RSA key lacks '%s', or it is no base64url", m.name)
		}
		n[i] = new(big.Int).SetBytes(b)
	}
	if !n[1].IsInt64() || n[1].Int64() > math.MaxInt32 {
		return nil, errors.New("the exponent of the RSA key is too large")
	}
	if bits := n[0].BitLen(); bits < minRSA || bits > maxRSA {
		return nil, fmt.Errorf("the RSA key has %d bits; it must have %d to %d", bits, minRSA, maxRSA)
	}
	k := &rsa.PrivateKey{PublicKey: rsa.PublicKey{N: n[0], E: int(n[1].Int64())}, D: n[2], Primes: []*big.Int{n[3], n[4]}}
	// The remaining members follow from these.
	if err := k.Validate(); err != nil {
		return nil, fmt.Errorf("the parts of the RSA key do not match: %w", err)
	}
	k.Precompute()
	return &jweKey{rsa: k}, nil
}

// maxRSA bounds the work that a key can cause, in bits.
const maxRSA = 8192

// jweCurves are the curves of elliptic keys, with the size of a coordinate in bytes.
var jweCurves = map[string]struct {
	curve ecdh.Curve
	size  int
}{
	"P-256": {ecdh.P256(), 32}, "P-384": {ecdh.P384(), 48}, "P-521": {ecdh.P521(), 66},
}

func parseECKey(text []byte) (*jweKey, error) {
	crv, _ := jsonText(pathCrv, text)
	c, known := jweCurves[string(crv)]
	if !known {
		return nil, errors.New("the curve ('crv') of the EC key is none of P-256, P-384 and P-521")
	}
	if _, ok := point(c.curve, c.size, pathX, pathY, text); !ok {
		return nil, fmt.Errorf("'x' and 'y' of the EC key are no point on %s", crv)
	}
	d, present, ok := jsonBase64(pathD, text)
	if !present {
		return new(jweKey), nil // a public key: decrypts nothing
	}
	k, err := privateOn(c.curve, c.size, d)
	if !ok || err != nil {
		return nil, fmt.Errorf("'d' of the EC key is no private key on %s", crv)
	}
	return &jweKey{ecdh: k}, nil
}

func privateOn(curve ecdh.Curve, size int, d []byte) (*ecdh.PrivateKey, error) {
	b, ok := fill(nil, d, size)
	if !ok {
		return nil, errors.New("too long")
	}
	return curve.NewPrivateKey(b)
}

// point reads the coordinates of a point on the curve; false when they are none.
func point(curve ecdh.Curve, size int, px, py *jsonPath, text []byte) (*ecdh.PublicKey, bool) {
	x, _, ok1 := jsonBase64(px, text)
	y, _, ok2 := jsonBase64(py, text)
	if !ok1 || !ok2 {
		return nil, false
	}
	b, ok1 := fill([]byte{4}, x, size)
	b, ok2 = fill(b, y, size)
	if !ok1 || !ok2 {
		return nil, false
	}
	p, err := curve.NewPublicKey(b)
	return p, err == nil
}

// fill appends a number with exactly size bytes; false when it needs more.
func fill(dst, n []byte, size int) ([]byte, bool) {
	n = bytes.TrimLeft(n, "\x00")
	if len(n) > size {
		return dst, false
	}
	dst = append(dst, make([]byte, size-len(n))...)
	return append(dst, n...), true
}
