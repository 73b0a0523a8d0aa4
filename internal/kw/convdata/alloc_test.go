package convdata

import (
	"testing"

	"weir/internal/model"
)

// TestAllocations: a converter allocates nothing but for what the standard library's ciphers and public keys do.
func TestAllocations(t *testing.T) {
	const (
		mqtt = "\x10\x14\x00\x04MQTT\x05\x02\x00\x3c\x05\x11\x01\x02\x03\x04\x00\x02id"
		fix  = "8=FIX.4.4\x019=5\x0135=A\x0110=180\x01"
		ip   = "\x45\x00\x00\x28\x00\x00\x40\x00\x40\x06\x00\x00\x0a\x00\x00\x01\x0a\x00\x00\x02\x01\xbb\x1f\x90\x11\x22\x33\x44\x55\x66\x77\x88\x50\x02\xff\x10\x00\x00\x00\x00"
		text = `{"a":{"b":[1,2.5,{"c":"x\ny"}]},"n":5}`
		jws  = "eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.Y3dXPNzHlVzqO1rZJqWqNzXJH2J7yZ4oT0pYkVbS0kE"
	)
	for _, c := range []struct {
		in, conv string
		max      float64
	}{
		{"abc", "digest(md5)", 0}, {"abc", "digest(sha256)", 0}, {"abc", "digest(sha512-256)", 0}, {"abc", "digest(sha3-256)", 0}, {"abc", "digest(blake2b512)", 0},
		{"abc", "digest(blake2s256)", 0}, {"abc", "digest(ripemd160)", 0}, {"abc", "digest(sm3)", 0}, {"abc", "digest(shake128)", 1}, {"abc", "sha1", 0}, {"abc", "sha2(384)", 0},
		{"abc", "hmac(sha256,a2V5)", 0}, {"abc", "hmac(sha512,txn.key)", 0}, {"abc", "hmac(sm3,a2V5)", 0},
		{"abc", "aes_cbc_enc(128,AAAA,AAECAwQFBgcICQoLDA0ODw==)", 0},
		{"0123456789abcdef", "aes_cbc_dec(128,AAAA,AAECAwQFBgcICQoLDA0ODw==)", 0},
		{"abc", "aes_gcm_enc(128,MTIzNDU2Nzg5MDEy,AAECAwQFBgcICQoLDA0ODw==,txn.tag)", 0},
		{"abc", "aes_gcm_dec(128,MTIzNDU2Nzg5MDEy,AAECAwQFBgcICQoLDA0ODw==,AAECAwQFBgcICQoLDA0ODw==)", 0},
		{"abc", "aes_cbc_enc(128,AAAA,txn.aes)", 2}, // the key is expanded each time
		{text, "json_query('$.a.b[1]')", 0}, {text, "json_query('$.a.b[2].c')", 0}, {text, "json_query('$.n','int')", 0}, {text, "json_query('$.a.b')", 0}, {text, "json_query('$.none')", 0},
		{jws, "jwt_header_query('$.alg')", 0}, {jws, "jwt_payload_query('$.a')", 0}, {jws, "jwt_verify(HS256,secret)", 0}, {jws, "jwt_verify(txn.alg,txn.key)", 0},
		{"\x0a\x04\x08\x07\x10\x09", "protobuf(1.2,int32)", 0}, {"\x00\x00\x00\x00\x06\x0a\x04\x08\x07\x10\x09", "ungrpc(1.1)", 0},
		{mqtt, "mqtt_is_valid", 0}, {mqtt, "mqtt_field_value(1,17)", 0}, {mqtt, "mqtt_field_value(connect,client_identifier)", 0},
		{fix, "fix_is_valid", 0}, {fix, "fix_tag_value(MsgType)", 0},
		{ip, "ip.src", 0}, {ip, "ip.fp(7)", 0}, {ip, "ip.data,tcp.options_list", 0}, {ip, "ip.data,tcp.win", 0}, {"aaaaaabbbbbb\x08\x00" + ip, "eth.data,ip.ttl", 0},
	} {
		tx := newTxn()
		tx.Scratch.Init(new(model.ScratchPool), 0)
		setVar(t, tx, "txn.key", "str", "a2V5")
		setVar(t, tx, "txn.alg", "str", "HS512")
		setVar(t, tx, "txn.aes", "str", "AAECAwQFBgcICQoLDA0ODw==")
		setVar(t, tx, "txn.input", "str", c.in)
		setVar(t, tx, "txn.tag", "str", "0123456789abcdef01234567")
		e := compile(t, c.conv)[0]
		var v model.Value
		run := func() {
			m := tx.Scratch.Mark()
			e.Eval(tx, &v)
			tx.Scratch.Release(m)
		}
		if n := testing.AllocsPerRun(100, run); n > c.max {
			t.Errorf("%s: %v allocations, want %v", c.conv, n, c.max)
		}
	}
}
