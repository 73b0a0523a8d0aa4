package convdata

import (
	"crypto/aes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"hash"
)

// wrappingKey returns the beginning of the secret that the algorithm needs.
func (k *jweKey) wrappingKey(t *jweToken) ([]byte, bool) {
	if len(k.secret) < t.alg.keySize {
		return nil, false
	}
	return k.secret[:t.alg.keySize], true
}

// direct: the secret is the key of the content (RFC 7518, 4.5).
func (k *jweKey) direct(t *jweToken) ([]byte, bool) { return k.secret, len(t.key) == 0 }

// wrapped unwraps with AES Key Wrap (RFC 7518, 4.4).
func (k *jweKey) wrapped(t *jweToken) ([]byte, bool) {
	kek, ok := k.wrappingKey(t)
	if !ok {
		return nil, false
	}
	return unwrapAES(kek, t.key)
}

var (
	pathIV  = compilePath("$.iv")
	pathTag = compilePath("$.tag")
)

// wrappedGCM unwraps with AES-GCM (RFC 7518, 4.7).
func (k *jweKey) wrappedGCM(t *jweToken) ([]byte, bool) {
	kek, ok := k.wrappingKey(t)
	iv, _, ok1 := jsonBase64(pathIV, t.header)
	tag, _, ok2 := jsonBase64(pathTag, t.header)
	if !ok || !ok1 || !ok2 {
		return nil, false
	}
	return openGCM(kek, iv, t.key, tag, nil)
}

// rsa15 decrypts with RSAES-PKCS1-v1_5 (RFC 7518, 4.2). A wrong padding is not told apart from a wrong key, in result and time (RFC 7516, 11.5).
func (k *jweKey) rsa15(t *jweToken) ([]byte, bool) {
	if k.rsa == nil {
		return nil, false
	}
	cek := make([]byte, t.enc.keySize)
	if _, err := rand.Read(cek); err != nil {
		return nil, false
	}
	//lint:ignore SA1019 RSA1_5 tokens exist; a wrong padding gives a random key, so that no answer tells of it
	return cek, rsa.DecryptPKCS1v15SessionKey(nil, k.rsa, t.key, cek) == nil
}

// rsaOAEP and rsaOAEP256 decrypt with RSAES-OAEP (RFC 7518, 4.3).
func (k *jweKey) rsaOAEP(t *jweToken) ([]byte, bool)    { return k.oaep(sha1.New(), t) }
func (k *jweKey) rsaOAEP256(t *jweToken) ([]byte, bool) { return k.oaep(sha256.New(), t) }

func (k *jweKey) oaep(h hash.Hash, t *jweToken) ([]byte, bool) {
	if k.rsa == nil {
		return nil, false
	}
	cek, err := rsa.DecryptOAEP(h, nil, k.rsa, t.key, nil)
	return cek, err == nil
}

var (
	pathEphemeralCrv = compilePath("$.epk.crv")
	pathEphemeralX   = compilePath("$.epk.x")
	pathEphemeralY   = compilePath("$.epk.y")
	pathAPU          = compilePath("$.apu")
	pathAPV          = compilePath("$.apv")
)

// agreed derives a key from the sender's ephemeral key (RFC 7518, 4.6), which encrypts the content or unwraps its key.
func (k *jweKey) agreed(t *jweToken) ([]byte, bool) {
	if k.ecdh == nil {
		return nil, false
	}
	crv, _ := jsonText(pathEphemeralCrv, t.header)
	c, known := jweCurves[string(crv)]
	if !known || c.curve != k.ecdh.Curve() {
		return nil, false
	}
	peer, ok := point(c.curve, c.size, pathEphemeralX, pathEphemeralY, t.header)
	if !ok {
		return nil, false
	}
	shared, err := k.ecdh.ECDH(peer)
	if err != nil {
		return nil, false
	}
	apu, present1, ok1 := jsonBase64(pathAPU, t.header)
	apv, present2, ok2 := jsonBase64(pathAPV, t.header)
	if present1 && !ok1 || present2 && !ok2 {
		return nil, false
	}
	if t.alg.keySize == 0 {
		return concatKDF(shared, t.enc.name, apu, apv, t.enc.keySize), true
	}
	return unwrapAES(concatKDF(shared, t.alg.name, apu, apv, t.alg.keySize), t.key)
}

// concatKDF derives size bytes of key (RFC 7518, 4.6.2).
func concatKDF(shared []byte, alg string, apu, apv []byte, size int) []byte {
	var key []byte
	for round := uint32(1); len(key) < size; round++ {
		b := binary.BigEndian.AppendUint32(nil, round)
		b = append(b, shared...)
		for _, part := range [][]byte{[]byte(alg), apu, apv} {
			b = binary.BigEndian.AppendUint32(b, uint32(len(part)))
			b = append(b, part...)
		}
		b = binary.BigEndian.AppendUint32(b, uint32(size)*8)
		sum := sha256.Sum256(b)
		key = append(key, sum[:]...)
	}
	return key[:size]
}

// unwrapAES unwraps a key with AES Key Wrap (RFC 3394, 2.2.2).
func unwrapAES(kek, wrapped []byte) ([]byte, bool) {
	const step = 8
	n := len(wrapped)/step - 1
	if n < 2 || len(wrapped)%step != 0 || n > maxWrapped/step {
		return nil, false
	}
	block, err := aes.NewCipher(kek)
	if err != nil {
		return nil, false
	}
	key := append([]byte(nil), wrapped[step:]...)
	var b [2 * step]byte
	copy(b[:], wrapped[:step])
	for j := 5; j >= 0; j-- {
		for i := n; i > 0; i-- {
			at := key[(i-1)*step : i*step]
			binary.BigEndian.PutUint64(b[:], binary.BigEndian.Uint64(b[:])^uint64(n*j+i))
			copy(b[step:], at)
			block.Decrypt(b[:], b[:])
			copy(at, b[step:])
		}
	}
	if subtle.ConstantTimeCompare(b[:step], wrapCheck[:]) != 1 {
		return nil, false
	}
	return key, true
}

// wrapCheck is what the first block must be after unwrapping (RFC 3394, 2.2.3.1).
var wrapCheck = [8]byte{0xa6, 0xa6, 0xa6, 0xa6, 0xa6, 0xa6, 0xa6, 0xa6}

// maxWrapped bounds the work of unwrapping: the longest key that a content algorithm uses is 64 bytes.
const maxWrapped = 512
