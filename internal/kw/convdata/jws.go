package convdata

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/subtle"
	"fmt"
	"math/big"

	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	sample.AddConv(
		sample.Conv{Name: "jwt_header_query", Args: "[string,string]", In: model.TypeBin, Out: model.TypeAny,
			Help: "header of a JSON Web Token, or the value that a path leads to in it", Check: checkJWTQuery, Run: runJWTHeader},
		sample.Conv{Name: "jwt_payload_query", Args: "[string,string]", In: model.TypeBin, Out: model.TypeAny,
			Help: "payload of a JSON Web Token, or the value that a path leads to in it", Check: checkJWTQuery, Run: runJWTPayload},
		sample.Conv{Name: "jwt_verify", Args: "string,string", In: model.TypeBin, Out: model.TypeSint,
			Help: "verifies the signature of a JSON Web Token with a secret or public key", Check: checkJWTVerify, Run: runJWTVerify},
		sample.Conv{Name: "jwt_verify_cert", Args: "string,string", In: model.TypeBin, Out: model.TypeSint,
			Help: "verifies the signature of a JSON Web Token with a certificate", Check: checkJWTVerifyCert, Run: runJWTVerifyCert},
	)
}

// Results of a verification (manual, converters jwt_verify and jwt_verify_cert).
const (
	jwtVerified     = 1
	jwtWrong        = 0
	jwtUnknownAlg   = -1
	jwtUnmanagedAlg = -2
	jwtInvalidToken = -3
	jwtUnknownKey   = -5
	jwtUnavailable  = -7
)

// jwsAlg is a signature algorithm (RFC 7518, 3.1).
type jwsAlg struct {
	family uint8
	hash   crypto.Hash
	digest *digest
}

// Families of algorithms.
const (
	jwsNone uint8 = iota
	jwsHMAC
	jwsRSA
	jwsPSS
	jwsECDSA
)

var jwsAlgs = map[string]*jwsAlg{
	"none":  {},
	"HS256": {jwsHMAC, crypto.SHA256, hashes["sha256"]},
	"HS384": {jwsHMAC, crypto.SHA384, hashes["sha384"]},
	"HS512": {jwsHMAC, crypto.SHA512, hashes["sha512"]},
	"RS256": {jwsRSA, crypto.SHA256, hashes["sha256"]},
	"RS384": {jwsRSA, crypto.SHA384, hashes["sha384"]},
	"RS512": {jwsRSA, crypto.SHA512, hashes["sha512"]},
	"PS256": {jwsPSS, crypto.SHA256, hashes["sha256"]},
	"PS384": {jwsPSS, crypto.SHA384, hashes["sha384"]},
	"PS512": {jwsPSS, crypto.SHA512, hashes["sha512"]},
	"ES256": {jwsECDSA, crypto.SHA256, hashes["sha256"]},
	"ES384": {jwsECDSA, crypto.SHA384, hashes["sha384"]},
	"ES512": {jwsECDSA, crypto.SHA512, hashes["sha512"]},
}

func checkJWTQuery(_ *sample.ArgCheck, a []sample.Arg) error {
	q, err := parseJSONQuery(a)
	if err == nil && optional(a, 0) != "" {
		a[0].Data = q
	}
	return err
}

func runJWTHeader(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	part, _, _ := bytes.Cut(v.B, dot)
	return queryPart(tx, a, part, v)
}

func runJWTPayload(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	_, rest, _ := bytes.Cut(v.B, dot)
	part, _, _ := bytes.Cut(rest, dot)
	return queryPart(tx, a, part, v)
}

var dot = []byte{'.'}

// queryPart evaluates the query on a part of a token; without a query the value is the decoded part.
func queryPart(tx *model.Txn, a []sample.Arg, part []byte, v *model.Value) bool {
	text, ok := decodePart(tx, part)
	if !ok || len(text) == 0 {
		return false
	}
	if len(a) == 0 || a[0].Data == nil {
		v.SetStr(text)
		return true
	}
	return a[0].Data.(*jsonQuery).run(tx, text, v)
}

// decodePart decodes a part of a token.
func decodePart(tx *model.Txn, part []byte) ([]byte, bool) {
	b, ok := appendBase64URL(tx.Scratch.Grab(), part, tx.Scratch.Limit())
	if !ok {
		return nil, false
	}
	return tx.Scratch.Keep(b)
}

// jwsArgs are the prepared arguments of a verification. They hang on the first one.
type jwsArgs struct {
	alg     *jwsAlg  // nil: it is in a variable
	algVar  *operand // its name
	key     *operand // a secret, the name of a file, or a variable with either
	public  *publicKey
	keyring *keyring
}

// algorithm returns the algorithm. known is false for a name that is none, ok when the variable is not set.
func (args *jwsArgs) algorithm(tx *model.Txn) (alg *jwsAlg, known, ok bool) {
	if args.alg != nil {
		return args.alg, true, true
	}
	name, ok := args.algVar.text(tx)
	if !ok || len(name) == 0 {
		return nil, false, false
	}
	alg, known = jwsAlgs[string(name)]
	return alg, known, true
}

func parseJWS(c *sample.ArgCheck, a []sample.Arg) (*jwsArgs, error) {
	args := &jwsArgs{algVar: variableOr(a[0].Str), key: variableOr(a[1].Str), keyring: ringOf(c.Scope)}
	if args.algVar.name == nil {
		if args.alg = jwsAlgs[a[0].Str]; args.alg == nil {
			return nil, fmt.Errorf("'%s' is no algorithm of JSON Web Tokens", a[0].Str)
		}
	}
	a[0].Data = args
	return args, nil
}

func checkJWTVerify(c *sample.ArgCheck, a []sample.Arg) error {
	args, err := parseJWS(c, a)
	if err != nil {
		return err
	}
	if args.key.name != nil || args.alg != nil && args.alg.family == jwsHMAC {
		return nil
	}
	args.public, err = args.keyring.addPublic(c.Scope, a[1].Str)
	if args.alg == nil { // it may be a secret as well
		return nil
	}
	return err
}

func checkJWTVerifyCert(c *sample.ArgCheck, a []sample.Arg) error {
	args, err := parseJWS(c, a)
	switch {
	case err != nil:
		return err
	case args.alg != nil && args.alg.family == jwsHMAC:
		return fmt.Errorf("'%s' works with a secret, not with a certificate", a[0].Str)
	case args.key.name != nil || a[1].Str == "":
		return nil
	}
	return args.keyring.addCert(c.Scope, a[1].Str)
}

// token is a signed token, split and decoded.
type token struct {
	signed    []byte // header.payload
	signature []byte
}

// splitToken takes a token apart; result is set when that decides already. An empty signature is right for the algorithm none alone.
func splitToken(tx *model.Txn, alg *jwsAlg, b []byte) (t token, result int64, decided bool) {
	first := bytes.IndexByte(b, '.')
	last := bytes.LastIndexByte(b, '.')
	if first < 0 || first == last || bytes.IndexByte(b[first+1:last], '.') >= 0 {
		return t, jwtInvalidToken, true
	}
	t.signed, t.signature = b[:last], b[last+1:]
	if alg.family == jwsNone {
		if len(t.signature) == 0 {
			return t, jwtVerified, true
		}
		return t, jwtWrong, true
	}
	sig, ok := decodePart(tx, t.signature)
	if !ok || len(sig) == 0 {
		return t, jwtInvalidToken, true
	}
	t.signature = sig
	return t, 0, false
}

func runJWTVerify(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	args := a[0].Data.(*jwsArgs)
	alg, known, ok := args.algorithm(tx)
	if !ok {
		return false
	}
	key, ok := args.key.text(tx)
	if !ok || len(key) == 0 {
		return false
	}
	if !known {
		v.SetInt(jwtUnknownAlg)
		return true
	}
	t, result, decided := splitToken(tx, alg, v.B)
	switch {
	case decided:
	case alg.family == jwsHMAC:
		result = verifyHMAC(tx, alg, key, t)
	default:
		public := args.public
		if public == nil {
			public = args.keyring.public[string(key)]
		}
		result = jwtUnknownKey
		if public != nil {
			result = verifier{alg, public}.verify(t.signed, t.signature)
		}
	}
	v.SetInt(result)
	return true
}

func runJWTVerifyCert(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	args := a[0].Data.(*jwsArgs)
	alg, known, ok := args.algorithm(tx)
	if !ok {
		return false
	}
	name, ok := args.key.text(tx)
	if !ok || len(name) == 0 {
		return false
	}
	if !known {
		v.SetInt(jwtUnknownAlg)
		return true
	}
	t, result, decided := splitToken(tx, alg, v.B)
	switch {
	case decided:
	case alg.family == jwsHMAC:
		result = jwtUnmanagedAlg
	default:
		result = args.verifyCert(alg, name, t)
	}
	v.SetInt(result)
	return true
}

func (args *jwsArgs) verifyCert(alg *jwsAlg, name []byte, t token) int64 {
	c, known := args.keyring.cert(name)
	if !known {
		return jwtUnknownKey
	}
	if c.NoJWT {
		return jwtUnavailable
	}
	k, err := newPublicKey(c.Public, false)
	if err != nil {
		return jwtWrong
	}
	return verifier{alg, k}.verify(t.signed, t.signature)
}

// verifyHMAC compares in constant time.
func verifyHMAC(tx *model.Txn, alg *jwsAlg, secret []byte, t token) int64 {
	return int64(subtle.ConstantTimeCompare(alg.digest.mac(tx, secret, t.signed), t.signature))
}

// verifier verifies signatures of one algorithm with one public key. It may be used by several goroutines.
type verifier struct {
	alg *jwsAlg
	key *publicKey
}

// verify returns jwtVerified, jwtWrong or jwtInvalidToken. It takes 20 to 500 microseconds, and allocates.
func (vf verifier) verify(signed, signature []byte) int64 {
	var sum [maxDigest]byte
	hashed := vf.alg.digest.sum(sum[:0], signed)
	good := false
	switch k := vf.key; vf.alg.family {
	case jwsRSA:
		good = k.rsa != nil && !k.pss && rsa.VerifyPKCS1v15(k.rsa, vf.alg.hash, hashed, signature) == nil
	case jwsPSS:
		good = k.rsa != nil && rsa.VerifyPSS(k.rsa, vf.alg.hash, hashed, signature, nil) == nil // salts of any length
	case jwsECDSA:
		if len(signature)%2 != 0 {
			return jwtInvalidToken
		}
		r, s := signature[:len(signature)/2], signature[len(signature)/2:]
		good = k.ecdsa != nil && ecdsa.Verify(k.ecdsa, hashed, new(big.Int).SetBytes(r), new(big.Int).SetBytes(s))
	}
	if good {
		return jwtVerified
	}
	return jwtWrong
}
