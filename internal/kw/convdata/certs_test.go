package convdata

import (
	"crypto/ecdsa"
	"crypto/rsa"
	"os"
	"sync"
	"testing"

	"weir/internal/model"
)

// fakeStore is a store of certificates.
type fakeStore map[string]Certificate

func (f fakeStore) JWTCertificate(name string) (Certificate, bool) {
	c, ok := f[name]
	return c, ok
}

func readCert(t testing.TB, name string) *Certificate {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := parseCertificate(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// rs256 is a token with an empty object and RS256, signed by testdata/keys/rsa.pem.
func rs256(t testing.TB) string {
	t.Helper()
	c := readCert(t, "testdata/keys/rsa.pem")
	return "str(" + signRS256(t, c.Private.(*rsa.PrivateKey)) + ")"
}

// TestCertStore: names of a store, codes for certificates that may not be used, and the store before files of the same name.
func TestCertStore(t *testing.T) {
	good := readCert(t, "testdata/keys/rsa.pem")
	other := readCert(t, "testdata/keys/ec256.pem")
	if _, ok := other.Private.(*ecdsa.PrivateKey); !ok {
		t.Fatalf("%T", other.Private)
	}
	off := *good
	off.NoJWT = true
	var cfg model.Config
	store := fakeStore{"@st/rsa.pem": *good, "@st/off.pem": off, "testdata/keys/rsa.pem": *other}
	Certificates.Set(&cfg.Slots, store)
	tx := newTxn()
	setVar(t, tx, "txn.n", "str", "@st/rsa.pem")
	token := rs256(t)
	for conv, want := range map[string]int64{
		"jwt_verify_cert(RS256,@st/rsa.pem)":           jwtVerified,
		"jwt_verify_cert(RS256,txn.n)":                 jwtVerified,
		"jwt_verify_cert(RS256,@st/off.pem)":           jwtUnavailable,
		"jwt_verify_cert(RS256,testdata/keys/rsa.pem)": jwtWrong,
	} {
		e := parse(&cfg, token+","+conv)
		if e == nil {
			t.Errorf("%s does not compile", conv)
			continue
		}
		var v model.Value
		if ok := e.Eval(tx, &v); !ok || v.Num != want {
			t.Errorf("%s: %d %v, want %d", conv, v.Num, ok, want)
		}
	}
	if parse(&cfg, token+",jwt_verify_cert(RS256,@st/none.pem)") != nil {
		t.Error("a certificate that the store does not have")
	}
	if parse(&cfg, token+",jwt_decrypt_cert(@st/rsa.pem)") == nil {
		t.Error("jwt_decrypt_cert does not find the certificate of the store")
	}
	delete(store, "@st/rsa.pem") // a runtime command may do that
	var v model.Value
	if e := parse(&cfg, token+",jwt_verify_cert(RS256,txn.n)"); !e.Eval(tx, &v) || v.Num != jwtUnknownKey {
		t.Errorf("a certificate that was removed: %d", v.Num)
	}
}

// TestKeyBesideCertificate: the private key may stand in a file named like the certificate's with .key added.
func TestKeyBesideCertificate(t *testing.T) {
	dir := t.TempDir()
	for from, to := range map[string]string{"rsa.crt": "c.pem", "rsa.key": "c.pem.key"} {
		text, err := os.ReadFile("testdata/keys/" + from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/"+to, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var cfg model.Config
	if parse(&cfg, "str(x),jwt_verify_cert(RS256,"+dir+"/c.pem)") == nil {
		t.Fatal("does not compile")
	}
	r := keyringOf.Get(&cfg.Slots)
	if c, known := r.cert([]byte(dir + "/c.pem")); !known || c.Private == nil {
		t.Errorf("known %v, private %T", known, c.Private)
	}
}

// TestManyGoroutines: what verifies and decrypts may run anywhere, with one key.
func TestManyGoroutines(t *testing.T) {
	c := readCert(t, "testdata/keys/rsa.pem")
	public, err := newPublicKey(c.Public, false)
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(signRS256(t, c.Private.(*rsa.PrivateKey)))
	tok, _, decided := splitToken(newTxn(), jwsAlgs["RS256"], text)
	if decided {
		t.Fatal("no token")
	}
	vf := verifier{jwsAlgs["RS256"], public}
	k, _ := keyOf(c.Private)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 3 {
				if got := vf.verify(tok.signed, tok.signature); got != jwtVerified {
					t.Error(got)
				}
				k.decrypt(jweDefault, text)
			}
		})
	}
	wg.Wait()
}
