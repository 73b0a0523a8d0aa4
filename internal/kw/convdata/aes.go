package convdata

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/base64"
	"fmt"

	"weir/internal/lang/sample"
	"weir/internal/lang/vars"
	"weir/internal/model"
)

func init() {
	const gcm, cbc = "integer,string,string,string[,string]", "integer,string,string[,string]"
	sample.AddConv(
		sample.Conv{Name: "aes_gcm_enc", Args: gcm, In: model.TypeBin, Out: model.TypeBin,
			Help: "encrypts with AES-GCM", Check: checkGCMEnc, Run: runGCMEnc},
		sample.Conv{Name: "aes_gcm_dec", Args: gcm, In: model.TypeBin, Out: model.TypeBin,
			Help: "decrypts with AES-GCM", Check: checkGCMDec, Run: runGCMDec},
		sample.Conv{Name: "aes_cbc_enc", Args: cbc, In: model.TypeBin, Out: model.TypeBin,
			Help: "encrypts with AES-CBC", Check: checkCBC, Run: runCBCEnc},
		sample.Conv{Name: "aes_cbc_dec", Args: cbc, In: model.TypeBin, Out: model.TypeBin,
			Help: "decrypts with AES-CBC", Check: checkCBC, Run: runCBCDec},
	)
}

const (
	gcmTagSize  = 16
	maxGCMNonce = 128 // bytes, the limit of OpenSSL
)

// aesArgs are the prepared arguments; they hang on the first one. A fixed key is expanded once; one from a variable is expanded at each
// use, which allocates.
type aesArgs struct {
	keySize         int // bytes
	nonce, key, aad *operand
	tag             *operand   // to compare with
	store           *vars.Name // where the tag goes
	block           cipher.Block
	aead            cipher.AEAD // with a fixed nonce as well
}

func parseAES(a []sample.Arg) (*aesArgs, error) {
	args := new(aesArgs)
	switch bits := a[0].Int; bits {
	case 128, 192, 256:
		args.keySize = int(bits) / 8
	default:
		return nil, fmt.Errorf("the size of the key must be 128, 192 or 256 bits, not %d", bits)
	}
	var err error
	if args.nonce, err = base64Operand("the nonce", a[1].Str); err != nil {
		return nil, err
	}
	if args.key, err = base64Operand("the key", a[2].Str); err != nil {
		return nil, err
	}
	if args.key.name == nil && len(args.key.fixed) >= args.keySize {
		args.block, err = aes.NewCipher(args.key.fixed[:args.keySize])
	}
	a[0].Data = args
	return args, err
}

func checkGCM(a []sample.Arg) (*aesArgs, error) {
	args, err := parseAES(a)
	if err != nil {
		return nil, err
	}
	if args.aad, err = base64Operand("the additional data", optional(a, 4)); err != nil {
		return nil, err
	}
	if args.nonce.name == nil && args.block != nil {
		args.aead, _ = newGCM(args.block, len(args.nonce.fixed))
	}
	return args, nil
}

func checkGCMEnc(_ *sample.ArgCheck, a []sample.Arg) error {
	args, err := checkGCM(a)
	if err != nil {
		return err
	}
	args.store, err = vars.Parse(a[3].Str)
	return err
}

func checkGCMDec(_ *sample.ArgCheck, a []sample.Arg) error {
	args, err := checkGCM(a)
	if err != nil {
		return err
	}
	args.tag, err = base64Operand("the tag", a[3].Str)
	return err
}

func checkCBC(_ *sample.ArgCheck, a []sample.Arg) error {
	args, err := parseAES(a)
	if err != nil {
		return err
	}
	// The additional data must be well-formed, and present if it is a variable; CBC has no use for it.
	args.aad, err = base64Operand("the additional data", optional(a, 3))
	return err
}

// cipher returns the block cipher. Of a key that is longer than its size says only the beginning counts; a shorter one is none.
func (args *aesArgs) cipher(tx *model.Txn) (cipher.Block, bool) {
	if args.block != nil {
		return args.block, true
	}
	key, ok := args.key.decoded(tx)
	if !ok || len(key) < args.keySize {
		return nil, false
	}
	b, err := aes.NewCipher(key[:args.keySize])
	return b, err == nil
}

// newGCM returns AES-GCM with nonces of n bytes.
func newGCM(b cipher.Block, n int) (cipher.AEAD, bool) {
	if n == 0 || n > maxGCMNonce {
		return nil, false
	}
	g, err := cipher.NewGCMWithNonceSize(b, n)
	return g, err == nil
}

// gcm returns the cipher, the nonce and the additional data.
func (args *aesArgs) gcm(tx *model.Txn) (g cipher.AEAD, nonce, aad []byte, ok bool) {
	if nonce, ok = args.nonce.decoded(tx); !ok {
		return nil, nil, nil, false
	}
	if aad, ok = args.aad.decoded(tx); !ok {
		return nil, nil, nil, false
	}
	if g = args.aead; g == nil {
		b, known := args.cipher(tx)
		if !known {
			return nil, nil, nil, false
		}
		if g, ok = newGCM(b, len(nonce)); !ok {
			return nil, nil, nil, false
		}
	}
	return g, nonce, aad, true
}

func runGCMEnc(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	args := a[0].Data.(*aesArgs)
	g, nonce, aad, ok := args.gcm(tx)
	if !ok {
		return false
	}
	n := len(v.B)
	buf := tx.Scratch.Alloc(n + gcmTagSize)
	if buf == nil {
		return false
	}
	buf = g.Seal(buf[:0], nonce, v.B, aad)
	var tag model.Value
	text, ok := tx.Scratch.Keep(base64.StdEncoding.AppendEncode(tx.Scratch.Grab(), buf[n:]))
	if !ok {
		return false
	}
	tag.SetStr(text)
	if !vars.Set(tx, args.store, &tag) {
		return false
	}
	v.SetBin(buf[:n:n])
	return true
}

func runGCMDec(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	args := a[0].Data.(*aesArgs)
	g, nonce, aad, ok := args.gcm(tx)
	if !ok {
		return false
	}
	tag, ok := args.tag.decoded(tx)
	if !ok || len(tag) != gcmTagSize {
		return false
	}
	n := len(v.B)
	buf := tx.Scratch.Alloc(n + gcmTagSize)
	if buf == nil {
		return false
	}
	copy(buf, v.B)
	copy(buf[n:], tag)
	plain, err := g.Open(buf[:0], nonce, buf, aad)
	if err != nil {
		return false
	}
	v.SetBin(plain)
	return true
}

// iv returns the initialization vector: the nonce, cut or filled with zeros to a block.
func (args *aesArgs) iv(tx *model.Txn) ([]byte, bool) {
	nonce, ok := args.nonce.decoded(tx)
	if !ok {
		return nil, false
	}
	iv := tx.Scratch.Alloc(aes.BlockSize)
	clear(iv)
	copy(iv, nonce)
	return iv, true
}

// cbc returns what both directions need.
func (args *aesArgs) cbc(tx *model.Txn) (b cipher.Block, iv []byte, ok bool) {
	if iv, ok = args.iv(tx); !ok {
		return nil, nil, false
	}
	if _, ok = args.aad.decoded(tx); !ok {
		return nil, nil, false
	}
	b, ok = args.cipher(tx)
	return b, iv, ok
}

func runCBCEnc(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	block, iv, ok := a[0].Data.(*aesArgs).cbc(tx)
	if !ok {
		return false
	}
	n := len(v.B)
	pad := aes.BlockSize - n%aes.BlockSize
	buf := tx.Scratch.Alloc(n + pad)
	if buf == nil {
		return false
	}
	copy(buf, v.B)
	for i := n; i < len(buf); i++ {
		buf[i] = byte(pad)
	}
	for prev, p := iv, buf; len(p) > 0; prev, p = p[:aes.BlockSize], p[aes.BlockSize:] {
		subtle.XORBytes(p, p[:aes.BlockSize], prev)
		block.Encrypt(p, p)
	}
	v.SetBin(buf)
	return true
}

func runCBCDec(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	block, iv, ok := a[0].Data.(*aesArgs).cbc(tx)
	if !ok {
		return false
	}
	buf := tx.Scratch.Alloc(len(v.B))
	if buf == nil {
		return false
	}
	plain, ok := openCBC(buf, block, iv, v.B)
	if ok {
		v.SetBin(plain)
	}
	return ok
}

// openCBC decrypts src into dst, which has its size, and removes the padding (RFC 5652, 6.3).
func openCBC(dst []byte, block cipher.Block, iv, src []byte) ([]byte, bool) {
	if len(src) == 0 || len(src)%aes.BlockSize != 0 {
		return nil, false
	}
	for i := 0; i < len(src); i += aes.BlockSize {
		block.Decrypt(dst[i:], src[i:])
		subtle.XORBytes(dst[i:], dst[i:i+aes.BlockSize], iv)
		iv = src[i : i+aes.BlockSize]
	}
	return unpad(dst)
}

// unpad removes PKCS#7 padding of a block of 16. It looks at a whole block whatever the padding is, so that the time tells nothing of it.
func unpad(p []byte) ([]byte, bool) {
	last := p[len(p)-aes.BlockSize:]
	n := int(last[aes.BlockSize-1])
	good := subtle.ConstantTimeLessOrEq(1, n) & subtle.ConstantTimeLessOrEq(n, aes.BlockSize)
	for i, c := range last {
		inside := subtle.ConstantTimeLessOrEq(aes.BlockSize-n, i)
		good &= subtle.ConstantTimeByteEq(c, byte(n)) | (1 - inside)
	}
	if good != 1 {
		return nil, false
	}
	return p[:len(p)-n], true
}
