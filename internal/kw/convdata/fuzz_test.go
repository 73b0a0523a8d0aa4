package convdata

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"weir/internal/lang/sample"
	"weir/internal/lang/sample/sampletest"
	"weir/internal/model"
)

func signRS256(t testing.TB, k *rsa.PrivateKey) string {
	t.Helper()
	signed := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"RS256"}`)) + ".e30"
	sum := sha256.Sum256([]byte(signed))
	sig, err := rsa.SignPKCS1v15(rand.Reader, k, crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(sig)
}

// inputName is the variable that the expressions of fuzz targets begin with.
const inputName = "txn.input"

// eval runs converters on bytes.
func eval(t testing.TB, tx *model.Txn, e *sample.Expr, in []byte) (v model.Value, ok bool) {
	t.Helper()
	var src model.Value
	src.SetBin(in)
	tx.Vars.Txn.Set("input", &src)
	ok = e.Eval(tx, &v)
	return v, ok
}

func compile(t testing.TB, convs ...string) []*sample.Expr {
	t.Helper()
	var list []*sample.Expr
	for _, c := range convs {
		list = append(list, sampletest.Parse(t, "var("+inputName+"),"+c))
	}
	return list
}

// bounded reports a value that is longer than both the input and a piece of scratch memory.
func bounded(t *testing.T, tx *model.Txn, in []byte, v *model.Value) {
	if len(v.B) > max(len(in), tx.Scratch.Limit()) {
		t.Errorf("%d bytes out of %d", len(v.B), len(in))
	}
}

func fuzz(f *testing.F, seeds []string, convs ...string) {
	list := compile(f, convs...)
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		tx := newTxn()
		for _, e := range list {
			if v, ok := eval(t, tx, e, in); ok {
				bounded(t, tx, in, &v)
			}
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":{"b":[1,2,{"c":"x"}]}}`, `[[1],[2,3]]`, `{"a":-}`, `{"a":1e999999999}`, `{"a":"\u00e9\n"}`, `{"a":1.}`, strings.Repeat("[", 30)} {
		f.Add([]byte(s), "$.a.b[2].c")
		f.Add([]byte(s), "$[1][0]")
	}
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		p := compilePath(path)
		kind, found := p.find(text)
		if len(found) > len(text) {
			t.Fatal(len(found))
		}
		for _, ints := range []bool{false, true} {
			var v model.Value
			(&jsonQuery{p, ints}).run(newTxn(), text, &v)
		}
		// A valid text and a path to its top: the kind is known.
		if path == "$" && json.Valid(text) && strings.IndexByte(string(text), 0) < 0 {
			want := map[byte]jsonKind{'{': jsonObject, '[': jsonArray, '"': jsonString, 't': jsonTrue, 'f': jsonFalse, 'n': jsonNull}
			first := strings.TrimLeft(string(text), " \t\r\n")[0]
			w, ok := want[first]
			if !ok {
				w = jsonNumber
			}
			if kind != w && !tooDeep(text) {
				t.Errorf("%q: kind %d, want %d", text, kind, w)
			}
		}
	})
}

func tooDeep(text []byte) bool {
	depth, most := 0, 0
	for _, c := range text {
		switch c {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		}
		most = max(most, depth)
	}
	return most > maxJSONDepth
}

func FuzzProtobuf(f *testing.F) {
	fuzz(f, []string{"\x0a\x04\x08\x07\x10\x09", "\x08\x96\x01", "\x00\x00\x00\x00\x02\x08\x07", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", strings.Repeat("\x80", 40)},
		"protobuf(1)", "protobuf(1.2)", "protobuf(1.2,int32)", "protobuf(1,double)", "protobuf(1,float)", "protobuf(1,sint64)", "ungrpc(1)", "ungrpc(1.1.1,bool)")
}

func FuzzMQTT(f *testing.F) {
	fuzz(f, []string{"\x10\x0e\x00\x04MQTT\x04\x02\x00\x3c\x00\x02id", "\x10\x14\x00\x04MQTT\x05\x02\x00\x3c\x05\x11\x01\x02\x03\x04\x00\x02id", "\x20\x06\x00\x00\x03\x21\x00\x05", "\x10\xff\xff\xff\x7f"},
		"mqtt_is_valid", "mqtt_field_value(1,17)", "mqtt_field_value(1,22)", "mqtt_field_value(1,username)", "mqtt_field_value(2,31)", "mqtt_field_value(2,reason_code)")
}

func FuzzFIX(f *testing.F) {
	fuzz(f, []string{"8=FIX.4.4\x019=5\x0135=A\x0110=180\x01", "8=FIX.4.4\x019=99999999999\x0135=A\x0110=180\x01", "==\x01"}, "fix_is_valid", "fix_tag_value(35)", "fix_tag_value(8)")
}

func FuzzToken(f *testing.F) {
	k := readCert(f, "testdata/keys/rsa.pem").Private.(*rsa.PrivateKey)
	fuzz(f, []string{signRS256(f, k), "..", "a.b.c.d.e", "eyJhIjoxfQ.WzFd.x",
		"eyJhbGciOiAiZGlyIiwgImVuYyI6ICJBMjU2R0NNIn0..hxCk0nP4aVNpgfb7.inlyAZtUzDCTpD_9iuWx.Pyu90cmgkXenMIVu9RUp8w",
		"eyJhbGciOiAiRUNESC1FUyIsICJlbmMiOiAiQTEyOEdDTSIsICJlcGsiOiB7ImNydiI6ICJQLTI1NiJ9fQ..AA.AA.AA"},
		"jwt_header_query", "jwt_payload_query('$.a')", "jwt_verify(HS256,k)", "jwt_verify(RS256,testdata/keys/rsa.pub)", "jwt_verify(ES256,testdata/keys/ec256.pub)",
		"jwt_verify(PS512,testdata/keys/rsa.pub)", "jwt_verify(none,testdata/keys/rsa.pub)", "jwt_decrypt_secret(AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=)",
		`jwt_decrypt_jwk('{"kty":"oct","k":"AAECAwQFBgcICQoLDA0ODw"}')`)
}

func FuzzJWK(f *testing.F) {
	for _, s := range []string{`{"kty":"oct","k":"AAAA"}`, `{"kty":"RSA","n":"AQAB","e":"AQAB","d":"AQ","p":"AQ","q":"AQ","dp":"AQ","dq":"AQ","qi":"AQ"}`, `{"kty":"EC","crv":"P-256","x":"AA","y":"AA","d":"AA"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if k, err := parseJWK(text); (k == nil) != (err != nil) {
			t.Errorf("%v %v", k, err)
		}
	})
}

func FuzzPacket(f *testing.F) {
	var convs []string
	for _, name := range sample.Convs.Names() {
		if strings.HasPrefix(name, "eth.") || strings.HasPrefix(name, "ip.") || strings.HasPrefix(name, "tcp.") {
			convs = append(convs, name)
		}
	}
	fuzz(f, []string{"\x45\x00\x00\x28\x00\x00\x40\x00\x40\x06\x00\x00\x0a\x00\x00\x01\x0a\x00\x00\x02" + strings.Repeat("\x50", 20),
		"\x60\x00\x00\x00\x00\x14\x00\x40" + strings.Repeat("\x01", 32) + strings.Repeat("\x00", 40), strings.Repeat("\x81\x00\x00\x01", 30)}, append(convs, "ip.fp(7)")...)
}

func FuzzBase64(f *testing.F) {
	f.Add([]byte("YWJj"))
	f.Add([]byte("Y==="))
	f.Fuzz(func(t *testing.T, in []byte) {
		const limit = 64
		got, ok := appendBase64(nil, in, limit)
		want, err := base64.StdEncoding.DecodeString(string(in))
		if len(got) > limit || err == nil && !strings.ContainsAny(string(in), "\r\n") && len(want) <= limit && (!ok || string(got) != string(want)) {
			t.Errorf("%q: %q %v, %q %v", in, got, ok, want, err)
		}
		got, ok = appendBase64URL(nil, in, limit)
		want, err = base64.RawURLEncoding.DecodeString(string(in))
		if len(got) > limit || err == nil && !strings.ContainsAny(string(in), "\r\n") && len(want) <= limit && (!ok || string(got) != string(want)) {
			t.Errorf("%q: %q %v, %q %v", in, got, ok, want, err)
		}
	})
}

// TestHostileInput: a buffer full of what makes parsers slow is read in one pass.
func TestHostileInput(t *testing.T) {
	const size = 1 << 20
	fill := func(s string) []byte { return []byte(strings.Repeat(s, size/len(s))) }
	inputs := map[string][]byte{
		"brackets": fill("["), "objects": fill(`{"a":`), "commas": fill("[1,"), "strings": fill(`"\"`), "digits": fill("9"), "exponent": append([]byte("1e"), fill("9")...),
		"varints": fill("\x80"), "fields": fill("\x08\x01"), "nested": fill("\x0a\x7f"), "mqtt": append([]byte("\x10\xff\xff\x3f\x00\x04MQTT\x05\x02\x00\x3c\xff\xff\x3f"), fill("\x26\x00\x00\x00\x00")...),
		"fix": fill("35=A\x01"), "equals": fill("="), "vlans": append([]byte("aaaaaabbbbbb"), fill("\x81\x00\x00\x01")...), "extensions": append([]byte("\x60\x00\x00\x00\x00\x00\x00\x40"), make([]byte, size)...),
		"dots": fill("."), "base64": fill("AAAA"), "padding": fill("===="), "zeros": make([]byte, size),
	}
	list := compile(t, "json_query('$.a')", "json_query('$[1]')", "json_query('$')", "json_query('$.a','int')", "protobuf(2)", "protobuf(1.1.1)", "ungrpc(2)",
		"mqtt_is_valid", "mqtt_field_value(1,17)", "fix_is_valid", "fix_tag_value(34)", "eth.data", "eth.vlan", "ip.data", "ip.fp(7)", "tcp.options_list",
		"jwt_header_query", "jwt_payload_query('$.a')", "jwt_verify(HS256,k)", "jwt_decrypt_secret(AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=)",
		"digest(sha256)", "digest(ripemd160)", "hmac(sha256,a2V5)", "aes_cbc_enc(128,AAAA,AAECAwQFBgcICQoLDA0ODw==)")
	tx := newTxn()
	for _, in := range inputs {
		for _, e := range list {
			if v, ok := eval(t, tx, e, in); ok {
				bounded(t, tx, in, &v)
			}
		}
	}
}

// TestLargeExponent holds the answer to a number that another implementation took minutes for.
func TestLargeExponent(t *testing.T) {
	tx := newTxn()
	for text, want := range map[string]string{`{"a":1e999999999}`: "inf", `{"a":-1e999999999}`: "-inf", `{"a":1e-999999999}`: "0", `{"a":0e999999999}`: "-nan"} {
		if got, ok := sampletest.Text(t, tx, `str('`+text+`'),json_query('$.a')`); !ok || got != want {
			t.Errorf("%s: %q %v", text, got, ok)
		}
	}
	deep := strings.Repeat(`{"a":`, 10000) + "1" + strings.Repeat("}", 10000)
	e := compile(t, "json_query('$.a.a.a')")[0]
	if v, ok := eval(t, tx, e, []byte(deep)); ok {
		t.Errorf("10000 objects: %q", v.B)
	}
}
