package convdata

import (
	"bytes"
	"crypto/aes"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/hex"
	"os"
	"slices"
	"strings"
	"testing"

	"weir/internal/lang/config"
	"weir/internal/lang/sample"
	"weir/internal/lang/sample/sampletest"
	"weir/internal/model"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestUnwrapVectors: RFC 3394, 4.1 to 4.6.
func TestUnwrapVectors(t *testing.T) {
	const (
		kek  = "000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F"
		data = "00112233445566778899AABBCCDDEEFF000102030405060708090A0B0C0D0E0F"
	)
	for _, c := range []struct {
		kek, data int // bytes
		wrapped   string
	}{
		{16, 16, "1FA68B0A8112B447AEF34BD8FB5A7B829D3E862371D2CFE5"},
		{24, 16, "96778B25AE6CA435F92B5B97C050AED2468AB8A17AD84E5D"},
		{32, 16, "64E8C3F9CE0F5BA263E9777905818A2A93C8191E7D6E8AE7"},
		{24, 24, "031D33264E15D33268F24EC260743EDCE1C6C7DDEE725A936BA814915C6762D2"},
		{32, 24, "A8F9BC1612C68B3FF6E6F4FBE30E71E4769C8B80A32CB8958CD5D17D6B254DA1"},
		{32, 32, "28C9F404C4B810F4CBCCB35CFB87F8263F5786E2D80ED326CBC7F0E71A99F43BFB988B9B7A02DD21"},
	} {
		got, ok := unwrapAES(unhex(t, kek)[:c.kek], unhex(t, c.wrapped))
		if want := unhex(t, data)[:c.data]; !ok || !bytes.Equal(got, want) {
			t.Errorf("%d/%d: %x %v", c.kek, c.data, got, ok)
		}
		broken := unhex(t, c.wrapped)
		broken[len(broken)-1] ^= 1
		if got, ok := unwrapAES(unhex(t, kek)[:c.kek], broken); ok {
			t.Errorf("%d/%d: a changed key is accepted: %x", c.kek, c.data, got)
		}
	}
	if _, ok := unwrapAES(make([]byte, 16), make([]byte, maxWrapped+16)); ok {
		t.Error("a very long key")
	}
}

// TestAgreementVector: RFC 7518, appendix C.
func TestAgreementVector(t *testing.T) {
	z := []byte{158, 86, 217, 29, 129, 113, 53, 211, 114, 131, 66, 131, 191, 132, 38, 156, 251, 49, 110, 163, 218, 128, 106, 72, 246, 218, 167, 121, 140, 254, 144, 196}
	key := concatKDF(z, "A128GCM", []byte("Alice"), []byte("Bob"), 16)
	if got := base64.RawURLEncoding.EncodeToString(key); got != "VqqN6vgjbSBcIijNcacQGg" {
		t.Error(got)
	}
}

// TestHMACVectors: RFC 4231, test cases 1, 2 and 6.
func TestHMACVectors(t *testing.T) {
	tx := newTxn()
	for _, c := range []struct{ key, data, sha256, sha512 string }{
		{"0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", hex.EncodeToString([]byte("Hi There")),
			"b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
			"87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cdedaa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854"},
		{hex.EncodeToString([]byte("Jefe")), hex.EncodeToString([]byte("what do ya want for nothing?")),
			"5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
			"164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"},
		{hex.EncodeToString(bytes.Repeat([]byte{0xaa}, 131)), hex.EncodeToString([]byte("Test Using Larger Than Block-Size Key - Hash Key First")),
			"60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
			"80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f3526b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598"},
	} {
		for alg, want := range map[string]string{"sha256": c.sha256, "sha512": c.sha512} {
			if got := hex.EncodeToString(hashes[alg].mac(tx, unhex(t, c.key), unhex(t, c.data))); got != want {
				t.Errorf("%s: %s", alg, got)
			}
		}
	}
}

// TestTokenVectors: RFC 7515, A.1 and A.3, RFC 7516, A.3.
func TestTokenVectors(t *testing.T) {
	const payload = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
	tx := newTxn()
	secret, err := base64.RawURLEncoding.DecodeString("AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow")
	if err != nil {
		t.Fatal(err)
	}
	hs256 := []byte("eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9." + payload + ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
	alg := jwsAlgs["HS256"]
	tok, _, decided := splitToken(tx, alg, hs256)
	if decided || verifyHMAC(tx, alg, secret, tok) != jwtVerified {
		t.Error("RFC 7515, A.1")
	}
	for i := range hs256 { // no byte may change, but for bits of the last digit that do not count
		c := bytes.Clone(hs256)
		if c[i] ^= 1; i == len(c)-1 {
			c[i] ^= 0x10
		}
		tok, result, decided := splitToken(tx, alg, c)
		if !decided {
			result = verifyHMAC(tx, alg, secret, tok)
		}
		if result == jwtVerified {
			t.Errorf("byte %d of the token may be changed: %s", i, c)
		}
	}
	k, err := parseJWK([]byte(`{"kty":"oct","k":"GawgguFyGrWKav7AX4VKUg"}`))
	if err != nil {
		t.Fatal(err)
	}
	jwe := []byte("eyJhbGciOiJBMTI4S1ciLCJlbmMiOiJBMTI4Q0JDLUhTMjU2In0.6KB707dM9YTIgHtLvtgWQ8mKwboJW3of9locizkDTHzBC2IlrT1oOQ.AxY8DCtDaGlsbGljb3RoZQ." +
		"KDlTtXchhZTGufMYmOYGS4HffxPSUrfmqCHXaI9wOGY.U0m_YmjN04DJvceFICbCVQ")
	if plain, ok := k.decrypt(jweDefault, jwe); !ok || string(plain) != "Live long and prosper." {
		t.Errorf("RFC 7516, A.3: %q %v", plain, ok)
	}
	for i := range jwe {
		c := bytes.Clone(jwe)
		if c[i] ^= 4; c[i] == '=' || c[i] == '.' {
			continue
		}
		if plain, ok := k.decrypt(jweDefault, c); ok && string(plain) != "Live long and prosper." {
			t.Errorf("byte %d may be changed: %q", i, plain)
		}
	}
}

// TestGCMTag: the tag goes to the variable, and only it opens the text again. The values are of NIST's test case 4 without its last bytes.
func TestGCMTag(t *testing.T) {
	const (
		key   = "/v/pkoZlcxxtao+UZzCDCA==" // feffe9928665731c6d6a8f9467308308
		nonce = "yv66vvrO263eyviI"         // cafebabefacedbaddecaf888
	)
	tx := newTxn()
	enc := parse(nil, "bin(d9313225f88406e5a55909c5aff5269a),aes_gcm_enc(128,"+nonce+","+key+",txn.tag,/u36zt6tvu/+7frO3q2+76ut2tI=)")
	if got := result(t, tx, enc); got != "=42831ec2217774244b7221b784d0d49c" {
		t.Fatal(got)
	}
	tag, ok := sampletest.Value(t, tx, "var(txn.tag)")
	if raw, err := base64.StdEncoding.DecodeString(string(tag.B)); !ok || tag.Type != model.TypeStr || err != nil || len(raw) != gcmTagSize {
		t.Fatalf("tag %q %v", tag.B, err)
	}
	dec := parse(nil, "bin(42831ec2217774244b7221b784d0d49c),aes_gcm_dec(128,"+nonce+","+key+",txn.tag,/u36zt6tvu/+7frO3q2+76ut2tI=)")
	if got := result(t, tx, dec); got != "=d9313225f88406e5a55909c5aff5269a" {
		t.Error(got)
	}
	setVar(t, tx, "txn.tag", "str", "AAAA"+string(tag.B[4:]))
	if got := result(t, tx, dec); got != "-" {
		t.Errorf("a wrong tag: %s", got)
	}
	tx.Vars.Txn = nil
	if got := result(t, tx, enc); got != "-" {
		t.Errorf("no room for the tag: %s", got)
	}
}

// TestWholeParts: without a path the decoded part is the value, as the manual says; the reference has none.
func TestWholeParts(t *testing.T) {
	tx := newTxn()
	for expr, want := range map[string]string{
		"str(eyJhIjoxfQ.WzFd.x),jwt_header_query":            `{"a":1}`,
		"str(eyJhIjoxfQ.WzFd.x),jwt_header_query()":          `{"a":1}`,
		"str(eyJhIjoxfQ.WzFd.x),jwt_payload_query":           "[1]",
		"str(eyJhIjoxfQ.WzFd.x),jwt_payload_query('','int')": "[1]",
	} {
		if got, ok := sampletest.Text(t, tx, expr); !ok || got != want {
			t.Errorf("%s: %q %v", expr, got, ok)
		}
	}
	for _, expr := range []string{"str(.WzFd.x),jwt_header_query", "str(a),jwt_payload_query", "str(!.!.!),jwt_header_query"} {
		if got, ok := sampletest.Text(t, tx, expr); ok {
			t.Errorf("%s: %q", expr, got)
		}
	}
}

// TestTypes: what converters with a type known at run time only return.
func TestTypes(t *testing.T) {
	tx := newTxn()
	for expr, want := range map[string]model.Type{
		`str('{"a":1}'),json_query('$.a')`:                                    model.TypeStr,
		`str('{"a":1}'),json_query('$.a','int')`:                              model.TypeSint,
		`str('{"a":true}'),json_query('$.a')`:                                 model.TypeBool,
		`str('{"a":"x"}'),json_query('$.a')`:                                  model.TypeStr,
		`str('{"a":[1]}'),json_query('$.a')`:                                  model.TypeStr,
		"bin(0807),protobuf(1)":                                               model.TypeBin,
		"bin(0807),protobuf(1,int32)":                                         model.TypeSint,
		"bin(4500003c1c46400040060000ac100a63ac100a0c),ip.src":                model.TypeIPv4,
		"bin(6000000000060640" + v6mapped + v6mapped + "),ip.src":             model.TypeIPv6,
		"bin(100e00044d5154540402003c00026964),mqtt_field_value(1,keepalive)": model.TypeStr,
		"str(..),jwt_verify(HS256,k)":                                         model.TypeSint,
	} {
		v, ok := sampletest.Value(t, tx, expr)
		if !ok || v.Type != want {
			t.Errorf("%s: %s %v", expr, v.Type, ok)
		}
	}
}

const v6mapped = "00000000000000000000ffff0a010203"

// TestPolicy: jwt.decrypt_alg_list and jwt.decrypt_enc_list.
func TestPolicy(t *testing.T) {
	const every = "dir A128KW A192KW A256KW A128GCMKW A192GCMKW A256GCMKW RSA1_5 RSA-OAEP RSA-OAEP-256 ECDH-ES ECDH-ES+A128KW ECDH-ES+A192KW ECDH-ES+A256KW"
	const token = "str(eyJhbGciOiAiZGlyIiwgImVuYyI6ICJBMjU2R0NNIn0..hxCk0nP4aVNpgfb7.inlyAZtUzDCTpD_9iuWx.Pyu90cmgkXenMIVu9RUp8w)," +
		`jwt_decrypt_jwk('{"kty":"oct","k":"ZMpktzGq1g6_r4fKVdnx9OaYr4HjxPjIs7l7SwAsgsg"}')`
	for _, c := range []struct {
		list string
		algs string // "!": an error
	}{
		{"ALL", every}, {"dir", "dir"}, {"dir:A128KW", "dir A128KW"}, {"ALL:!dir", every[len("dir "):]}, {"!dir:ALL", every}, {"!dir:dir", "dir"},
		{"dir:!dir", ""}, {"!A128KW", ""}, {"RSA1_5", "RSA1_5"},
		{"foo", "!"}, {"ALL:!foo", "!"}, {"all", "!"}, {"A128GCM", "!"}, {"dir:", "!"}, {":dir", "!"}, {"!ALL", "!"}, {"dir,A128KW", "!"},
	} {
		var cfg model.Config
		reg := config.NewRegistry()
		reg.AddGlobalSection(func(*config.Parser) any { return new(model.Global) })
		reg.Global.Add(jweKeywords()...)
		_, diags := config.Load(config.Options{Files: []string{"t.cfg"}, Registry: reg, Root: &cfg,
			ReadDir:  func(string) ([]string, bool, error) { return nil, false, nil },
			ReadFile: func(string) ([]byte, error) { return []byte("global\n jwt.decrypt_alg_list " + c.list + "\n"), nil }})
		if failed := diags.Errors() > 0; failed != (c.algs == "!") {
			t.Errorf("%s: errors: %s", c.list, diags)
		}
		if c.algs == "!" {
			continue
		}
		policy := ringOf(&sample.Scope{Conf: &cfg}).policy()
		var names []string
		for i := range jweAlgs {
			if policy.algs&(1<<i) != 0 {
				names = append(names, jweAlgs[i].name)
			}
		}
		if got := strings.Join(names, " "); got != c.algs || policy.encs != jweDefault.encs {
			t.Errorf("%s: %s, %x", c.list, got, policy.encs)
		}
		want := "-"
		if slices.Contains(names, "dir") {
			want = "=" + hex.EncodeToString([]byte("Setec Astronomy"))
		}
		if got := result(t, newTxn(), parse(&cfg, token)); got != want {
			t.Errorf("%s: %s", c.list, got)
		}
	}
}

// TestPKCS1 decrypts with RSA1_5 where a configuration allows it.
func TestPKCS1(t *testing.T) {
	text, err := os.ReadFile("testdata/keys/rsa.key")
	if err != nil {
		t.Fatal(err)
	}
	private, err := parsePrivateKey(text)
	if err != nil {
		t.Fatal(err)
	}
	k, ok := keyOf(private)
	if !ok {
		t.Fatal("no key")
	}
	cek := []byte("0123456789abcdef")
	//lint:ignore SA1019 the algorithm under test
	wrapped, err := rsa.EncryptPKCS1v15(rand.Reader, &k.rsa.PublicKey, cek)
	if err != nil {
		t.Fatal(err)
	}
	b64 := base64.RawURLEncoding.EncodeToString
	header := b64([]byte(`{"alg":"RSA1_5","enc":"A128GCM"}`))
	block, err := aes.NewCipher(cek)
	if err != nil {
		t.Fatal(err)
	}
	g, ok := newGCM(block, 12)
	if !ok {
		t.Fatal("no cipher")
	}
	iv := make([]byte, 12)
	sealed := g.Seal(nil, iv, []byte("hello"), []byte(header))
	build := func(wrapped []byte) []byte {
		return []byte(header + "." + b64(wrapped) + "." + b64(iv) + "." + b64(sealed[:5]) + "." + b64(sealed[5:]))
	}
	all := jwePolicy{algs: jweEvery, encs: jweEvery}
	if plain, ok := k.decrypt(all, build(wrapped)); !ok || string(plain) != "hello" {
		t.Errorf("%q %v", plain, ok)
	}
	if plain, ok := k.decrypt(jweDefault, build(wrapped)); ok {
		t.Errorf("not allowed, but decrypted: %q", plain)
	}
	wrapped[7] ^= 1
	if plain, ok := k.decrypt(all, build(wrapped)); ok {
		t.Errorf("a changed key decrypts: %q", plain)
	}
}
