package convdata

import (
	"bytes"
	"crypto/aes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"hash"
	"math"

	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	sample.AddConv(
		sample.Conv{Name: "jwt_decrypt_secret", Args: "string", In: model.TypeBin, Out: model.TypeBin,
			Help: "decrypts a JSON Web Token with a secret", Check: checkJWESecret, Run: runJWESecret},
		sample.Conv{Name: "jwt_decrypt_jwk", Args: "string", In: model.TypeBin, Out: model.TypeBin,
			Help: "decrypts a JSON Web Token with a JSON Web Key", Check: checkJWEKey, Run: runJWEKey},
		sample.Conv{Name: "jwt_decrypt_cert", Args: "string", In: model.TypeBin, Out: model.TypeBin,
			Help: "decrypts a JSON Web Token with the key of a certificate", Check: checkJWECert, Run: runJWECert},
	)
}

// jweEnc is an algorithm that encrypts content (RFC 7518, 5.1).
type jweEnc struct {
	name    string
	keySize int              // bytes
	mac     func() hash.Hash // of AES-CBC; nil: AES-GCM
}

var jweEncs = [...]jweEnc{
	{"A128GCM", 16, nil}, {"A192GCM", 24, nil}, {"A256GCM", 32, nil},
	{"A128CBC-HS256", 32, sha256.New}, {"A192CBC-HS384", 48, sha512.New384}, {"A256CBC-HS512", 64, sha512.New},
}

// jweAlg is an algorithm that brings the key of the content (RFC 7518, 4.1).
type jweAlg struct {
	name    string
	unwrap  func(k *jweKey, t *jweToken) ([]byte, bool)
	keySize int // bytes of the wrapping key; 0: none
}

var jweAlgs = [...]jweAlg{
	{"dir", (*jweKey).direct, 0},
	{"A128KW", (*jweKey).wrapped, 16}, {"A192KW", (*jweKey).wrapped, 24}, {"A256KW", (*jweKey).wrapped, 32},
	{"A128GCMKW", (*jweKey).wrappedGCM, 16}, {"A192GCMKW", (*jweKey).wrappedGCM, 24}, {"A256GCMKW", (*jweKey).wrappedGCM, 32},
	{"RSA1_5", (*jweKey).rsa15, 0}, {"RSA-OAEP", (*jweKey).rsaOAEP, 0}, {"RSA-OAEP-256", (*jweKey).rsaOAEP256, 0},
	{"ECDH-ES", (*jweKey).agreed, 0},
	{"ECDH-ES+A128KW", (*jweKey).agreed, 16}, {"ECDH-ES+A192KW", (*jweKey).agreed, 24}, {"ECDH-ES+A256KW", (*jweKey).agreed, 32},
}

// jwePolicy says which algorithms are accepted, one bit for each of the tables above.
type jwePolicy struct{ algs, encs uint32 }

// jweDefault is all but RSA1_5 (RFC 8725, 3.2).
var jweDefault = jwePolicy{algs: jweEvery &^ (1 << 7), encs: jweEvery}

const jweEvery = math.MaxUint32

// policyOf is where a configuration keeps its policy.
var policyOf = &model.SlotKey[*jwePolicy]{Name: "algorithms that decrypt tokens"}

// policy returns what the configuration accepts.
func (r *keyring) policy() jwePolicy {
	if r.cfg != nil {
		if p := policyOf.Get(&r.cfg.Slots); p != nil {
			return *p
		}
	}
	return jweDefault
}

// jweArgs are the prepared argument.
type jweArgs struct {
	key     *operand // a secret, a JSON Web Key, the name of a certificate, or a variable with it
	fixed   *jweKey  // of a fixed secret or JSON Web Key
	keyring *keyring
}

func checkJWESecret(c *sample.ArgCheck, a []sample.Arg) error {
	key, err := base64Operand("the secret", a[0].Str)
	if err != nil {
		return err
	}
	args := &jweArgs{key: key, keyring: ringOf(c.Scope)}
	if key.name == nil {
		args.fixed = &jweKey{secret: key.fixed}
	}
	a[0].Data = args
	return nil
}

func runJWESecret(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	args := a[0].Data.(*jweArgs)
	k := args.fixed
	if k == nil {
		secret, ok := args.key.decoded(tx)
		if !ok {
			return false
		}
		k = &jweKey{secret: secret}
	}
	return args.decrypt(tx, k, v)
}

func checkJWEKey(c *sample.ArgCheck, a []sample.Arg) error {
	args := &jweArgs{key: variableOr(a[0].Str), keyring: ringOf(c.Scope)}
	a[0].Data = args
	if args.key.name != nil {
		return nil
	}
	k, err := parseJWK(args.key.fixed)
	args.fixed = k
	return err
}

func runJWEKey(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	args := a[0].Data.(*jweArgs)
	k := args.fixed
	if k == nil {
		text, ok := args.key.text(tx)
		if !ok {
			return false
		}
		var err error
		if k, err = parseJWK(text); err != nil {
			return false
		}
	}
	return args.decrypt(tx, k, v)
}

func checkJWECert(c *sample.ArgCheck, a []sample.Arg) error {
	args := &jweArgs{key: variableOr(a[0].Str), keyring: ringOf(c.Scope)}
	a[0].Data = args
	if args.key.name != nil {
		return nil
	}
	return args.keyring.needCert(c.Scope, a[0].Str)
}

func runJWECert(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	args := a[0].Data.(*jweArgs)
	name, ok := args.key.text(tx)
	if !ok {
		return false
	}
	c, known := args.keyring.cert(name)
	if !known || c.NoJWT {
		return false
	}
	k, ok := keyOf(c.Private)
	return ok && args.decrypt(tx, k, v)
}

// decrypt makes v the content of the token in it.
func (args *jweArgs) decrypt(tx *model.Txn, k *jweKey, v *model.Value) bool {
	plain, ok := k.decrypt(args.keyring.policy(), v.B)
	if !ok {
		return false
	}
	b := tx.Scratch.Copy(plain)
	v.SetBin(b)
	return b != nil
}

// jweToken is an encrypted token in its five parts, decoded.
type jweToken struct {
	alg *jweAlg
	enc *jweEnc
	aad []byte // the header as it stands in the token
	// header is the decoded header, key the encrypted key.
	header, key, iv, content, tag []byte
}

var (
	pathAlg = compilePath("$.alg")
	pathEnc = compilePath("$.enc")
)

// maxJWE bounds the size of a token, in bytes; more than any buffer holds would not come from traffic.
const maxJWE = 1 << 24

// parseJWE takes a token apart, unless its algorithms are not allowed.
func parseJWE(policy jwePolicy, b []byte) (*jweToken, bool) {
	t := new(jweToken)
	if bytes.Count(b, dot) != 4 || len(b) > maxJWE {
		return nil, false
	}
	rest := b
	for i, part := range []*[]byte{&t.header, &t.key, &t.iv, &t.content, &t.tag} {
		var text []byte
		text, rest, _ = bytes.Cut(rest, dot)
		if i == 0 {
			t.aad = text
		}
		var ok bool
		if *part, ok = appendBase64URL(make([]byte, 0, len(text)), text, math.MaxInt); !ok {
			return nil, false
		}
	}
	alg, ok1 := jsonText(pathAlg, t.header)
	enc, ok2 := jsonText(pathEnc, t.header)
	if !ok1 || !ok2 {
		return nil, false
	}
	a, e := algNumber(string(alg)), encNumber(string(enc))
	if a < 0 || e < 0 || policy.algs&(1<<a) == 0 || policy.encs&(1<<e) == 0 {
		return nil, false
	}
	t.alg, t.enc = &jweAlgs[a], &jweEncs[e]
	return t, true
}

// jsonText returns the string that a path leads to.
func jsonText(p *jsonPath, text []byte) ([]byte, bool) {
	kind, b := p.find(text)
	if kind != jsonString {
		return nil, false
	}
	if bytes.IndexByte(b, '\\') < 0 {
		return b, true
	}
	return appendJSONString(nil, b)
}

// jsonBase64 is jsonText for a string in base64url; present reports that there is a string.
func jsonBase64(p *jsonPath, text []byte) (b []byte, present, ok bool) {
	s, present := jsonText(p, text)
	if !present {
		return nil, false, false
	}
	b, ok = appendBase64URL(nil, s, math.MaxInt)
	return b, true, ok
}

// decrypt returns the content of a token. It depends on its arguments only and may run on any goroutine; with an RSA key it takes
// about a millisecond. What it returns is new memory.
func (k *jweKey) decrypt(policy jwePolicy, b []byte) ([]byte, bool) {
	t, ok := parseJWE(policy, b)
	if !ok {
		return nil, false
	}
	cek, ok := t.alg.unwrap(k, t)
	if !ok || len(cek) < t.enc.keySize {
		return nil, false
	}
	if cek = cek[:t.enc.keySize]; t.enc.mac == nil {
		return openGCM(cek, t.iv, t.content, t.tag, t.aad)
	}
	return t.openCBC(cek)
}

// openGCM decrypts with AES-GCM.
func openGCM(key, iv, content, tag, aad []byte) ([]byte, bool) {
	block, err := aes.NewCipher(key)
	if err != nil || len(tag) != gcmTagSize {
		return nil, false
	}
	g, ok := newGCM(block, len(iv))
	if !ok {
		return nil, false
	}
	sealed := append(append(make([]byte, 0, len(content)+len(tag)), content...), tag...)
	plain, err := g.Open(sealed[:0], iv, sealed, aad)
	return plain, err == nil
}

// openCBC decrypts with AES-CBC and HMAC (RFC 7518, 5.2.2).
func (t *jweToken) openCBC(cek []byte) ([]byte, bool) {
	half := len(cek) / 2
	if len(t.iv) != aes.BlockSize {
		return nil, false
	}
	mac := hmac.New(t.enc.mac, cek[:half])
	mac.Write(t.aad)
	mac.Write(t.iv)
	mac.Write(t.content)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(t.aad))*8))
	if !hmac.Equal(mac.Sum(nil)[:half], t.tag) {
		return nil, false
	}
	block, err := aes.NewCipher(cek[half:])
	if err != nil {
		return nil, false
	}
	return openCBC(make([]byte, len(t.content)), block, t.iv, t.content)
}
