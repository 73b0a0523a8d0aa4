package convdata

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"weir/internal/lang/sample"
	"weir/internal/lang/sample/sampletest"
	"weir/internal/model"
)

// TestArgumentErrors: each error names the converter and says what is wrong.
func TestArgumentErrors(t *testing.T) {
	for _, c := range []struct{ conv, want string }{
		{"digest", "no message digest"},
		{"digest(foo)", "no message digest that OpenSSL knows"},
		{"digest()", "no message digest"},
		{"digest(md4)", "broken and not available"},
		{"digest(RSA-MD4)", "broken and not available"},
		{"digest(whirlpool)", "broken and not available"},
		{"digest(sha256,x)", "at most 1"},
		{"hmac(sha256)", "needs 2 arguments"},
		{"hmac(foo,a2V5)", "no message digest"},
		{"hmac(sha256,abc)", "encoded in base64"},
		{"hmac(shake128,a2V5)", "cannot authenticate"},
		{"hmac(sha256,foo.k)", "encoded in base64"},
		{"sha1(1)", "takes no argument"},
		{"sha2(255)", "no SHA-2 of 255 bits"},
		{"sha2(x)", "not an integer"},
		{"aes_gcm_enc(128,MTIzNDU2Nzg5MDEy,AAECAwQFBgcICQoLDA0ODw==)", "needs 4 arguments"},
		{"aes_gcm_enc(127,MTIzNDU2Nzg5MDEy,AAECAwQFBgcICQoLDA0ODw==,txn.t)", "128, 192 or 256 bits"},
		{"aes_gcm_enc(128,bad,AAECAwQFBgcICQoLDA0ODw==,txn.t)", "cannot be the nonce"},
		{"aes_gcm_enc(128,MTIzNDU2Nzg5MDEy,bad,txn.t)", "cannot be the key"},
		{"aes_gcm_enc(128,MTIzNDU2Nzg5MDEy,AAECAwQFBgcICQoLDA0ODw==,Zm9v)", "no name of a variable"},
		{"aes_gcm_enc(128,MTIzNDU2Nzg5MDEy,AAECAwQFBgcICQoLDA0ODw==,)", "name of a variable is missing"},
		{"aes_gcm_enc(128,MTIzNDU2Nzg5MDEy,AAECAwQFBgcICQoLDA0ODw==,txn.t,!)", "cannot be the additional data"},
		{"aes_gcm_dec(128,MTIzNDU2Nzg5MDEy,AAECAwQFBgcICQoLDA0ODw==,bad)", "cannot be the tag"},
		{"aes_cbc_enc(100,AAAA,AAAA)", "128, 192 or 256 bits"},
		{"aes_cbc_dec(128,AAAA,AAAA,bad)", "cannot be the additional data"},
		{"json_query", "path is empty"},
		{"json_query()", "path is empty"},
		{"json_query('$.a','str')", "'int' or left out"},
		{"jwt_header_query('$.a','bool')", "'int' or left out"},
		{"jwt_verify(HS256)", "needs 2 arguments"},
		{"jwt_verify(hs256,k)", "no algorithm"},
		{"jwt_verify(ES256K,k)", "no algorithm"},
		{"jwt_verify(RS256,testdata/keys/nope)", "no such file"},
		{"jwt_verify(RS256,)", "name of a file is missing"},
		{"jwt_verify(none,k)", "no such file"},
		{"jwt_verify(RS256,testdata/keys/bad.pub)", "no public key in PEM format"},
		{"jwt_verify(RS256,testdata/keys/empty.pub)", "no public key in PEM format"},
		{"jwt_verify(RS256,testdata/keys/rsa.der)", "no public key in PEM format"},
		{"jwt_verify(RS256,testdata/keys/rsa.crt)", "no public key in PEM format"},
		{"jwt_verify(RS256,testdata/keys/rsa.key)", "no public key in PEM format"},
		{"jwt_verify(RS256,testdata/keys/rsa512.pub)", "too short"},
		{"jwt_verify(RS256,testdata/keys)", "is a directory"},
		{"jwt_verify(ES256,testdata/keys/k1.pub)", "unsupported elliptic curve"},
		{"jwt_verify_cert(HS256,testdata/keys/rsa.pem)", "not with a certificate"},
		{"jwt_verify_cert(foo,testdata/keys/rsa.pem)", "no algorithm"},
		{"jwt_verify_cert(RS256,testdata/keys/nope)", "no such file"},
		{"jwt_verify_cert(RS256,testdata/keys/rsa.pub)", "no certificate in PEM format"},
		{"jwt_verify_cert(RS256,@store/rsa.pem)", "not loaded"},
		{"jwt_decrypt_secret(abc)", "cannot be the secret"},
		{"jwt_decrypt_jwk(x)", "has no type"},
		{`jwt_decrypt_jwk('{"kty":"OKP"}')`, "none of oct, RSA and EC"},
		{`jwt_decrypt_jwk('{"kty":"oct"}')`, "has no 'k'"},
		{`jwt_decrypt_jwk('{"kty":"RSA","n":"AQAB"}')`, "lacks 'e'"},
		{`jwt_decrypt_jwk('{"kty":"EC","crv":"P-999"}')`, "none of P-256"},
		{`jwt_decrypt_jwk('{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}')`, "no point"},
		{"jwt_decrypt_cert(testdata/keys/rsa.pem)", "not loaded"},
		{"protobuf(a)", "no list of field numbers"},
		{"protobuf(1,string)", "no type of a field"},
		{"protobuf(1,)", "no type of a field"},
		{"ungrpc(1,INT32)", "no type of a field"},
		{"mqtt_field_value(connect)", "needs 2 arguments"},
		{"mqtt_field_value(foo,flags)", "no type of MQTT packets"},
		{"mqtt_field_value(0,flags)", "no type of MQTT packets"},
		{"mqtt_field_value(16,flags)", "no type of MQTT packets"},
		{"mqtt_field_value(publish,flags)", "publish packets cannot be read"},
		{"mqtt_field_value(connect,18)", "no field or property of connect"},
		{"mqtt_field_value(connack,24)", "no field or property of connack"},
		{"mqtt_is_valid(1)", "takes no argument"},
		{"fix_tag_value(foo)", "no FIX tag"},
		{"fix_tag_value(0)", "no FIX tag"},
		{"fix_tag_value()", "no FIX tag"},
		{"ip.fp(x)", "not an integer"},
		{"eth.dst(1)", "takes no argument"},
	} {
		got := sampletest.ParseError(t, "str(x),"+c.conv)
		name, _, _ := strings.Cut(c.conv, "(")
		if !strings.Contains(got, c.want) || !strings.Contains(got, "'"+name+"'") {
			t.Errorf("%s: %s; want %q", c.conv, got, c.want)
		}
	}
}

// TestKeyIsFIFO: nobody waits for a writer.
func TestKeyIsFIFO(t *testing.T) {
	name := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := sampletest.ParseError(t, "str(x),jwt_verify(RS256,"+name+")"); !strings.Contains(got, "no regular file") {
		t.Error(got)
	}
}

func TestKeyTooLarge(t *testing.T) {
	name := filepath.Join(t.TempDir(), "large.pem")
	if err := os.WriteFile(name, make([]byte, maxKeyFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := sampletest.ParseError(t, "str(x),jwt_verify(RS256,"+name+")"); !strings.Contains(got, "larger than the limit") {
		t.Error(got)
	}
}

// TestSecretOrFile: with the algorithm in a variable the key may be a secret, so a missing file is no error.
func TestSecretOrFile(t *testing.T) {
	if _, err := sample.Parse(&sample.Scope{}, "str(x),jwt_verify(txn.alg,unknown_cert.pem)"); err != nil {
		t.Error(err)
	}
}

// TestNames holds the signatures that the reference's keyword dump has.
func TestNames(t *testing.T) {
	const text = `aes_cbc_dec(integer,string,string[,string]) bin bin
aes_cbc_enc(integer,string,string[,string]) bin bin
aes_gcm_dec(integer,string,string,string[,string]) bin bin
aes_gcm_enc(integer,string,string,string[,string]) bin bin
digest(string) bin bin
eth.data bin bin
eth.dst bin bin
eth.hdr bin bin
eth.proto sint bin
eth.src bin bin
eth.vlan sint bin
fix_is_valid bool bin
fix_tag_value(string) bin bin
hmac(string,string) bin bin
ip.data bin bin
ip.df sint bin
ip.dst addr bin
ip.fp([integer]) bin bin
ip.hdr bin bin
ip.proto sint bin
ip.src addr bin
ip.tos sint bin
ip.ttl sint bin
ip.ver sint bin
json_query(string[,string]) any str
jwt_decrypt_cert(string) bin bin
jwt_decrypt_jwk(string) bin bin
jwt_decrypt_secret(string) bin bin
jwt_header_query([string,string]) any bin
jwt_payload_query([string,string]) any bin
jwt_verify(string,string) sint bin
jwt_verify_cert(string,string) sint bin
mqtt_field_value(string,string) str bin
mqtt_is_valid bool bin
protobuf(Protocol buffers field number[,string]) bin bin
sha1 bin bin
sha2([integer]) bin bin
tcp.dst sint bin
tcp.flags sint bin
tcp.options.mss sint bin
tcp.options.sack sint bin
tcp.options.tsopt sint bin
tcp.options.tsval sint bin
tcp.options.wscale sint bin
tcp.options.wsopt sint bin
tcp.options_list bin bin
tcp.seq sint bin
tcp.src sint bin
tcp.win sint bin
ungrpc(Protocol buffers field number[,string]) bin bin`
	types := map[string]model.Type{"bin": model.TypeBin, "sint": model.TypeSint, "addr": model.TypeAddr, "any": model.TypeAny, "str": model.TypeStr, "bool": model.TypeBool}
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		f := strings.Fields(line)
		sig := strings.Join(f[:len(f)-2], " ")
		name, args, _ := strings.Cut(sig, "(")
		c, ok := sample.Convs.Lookup(name)
		if !ok {
			t.Errorf("no %s", name)
			continue
		}
		n++
		if c.Args != strings.TrimSuffix(args, ")") || c.Out != types[f[len(f)-2]] || c.In != types[f[len(f)-1]] || c.Help == "" {
			t.Errorf("%s: (%s) %s %s %q", line, c.Args, c.Out, c.In, c.Help)
		}
	}
	if all := len(sample.Convs.Names()); all != n {
		t.Errorf("%d converters are registered, %d stand here", all, n)
	}
}
