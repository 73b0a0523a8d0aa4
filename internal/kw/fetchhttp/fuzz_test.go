package fetchhttp

import (
	"bytes"
	"testing"

	"weir/internal/lang/sample"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

// FuzzCookies holds that cookies lie in the field, that each is visited once however the iteration is cut, and that names
// select from all of them.
func FuzzCookies(f *testing.F) {
	for _, s := range []string{"a=1; b=2", "a=\"x;y\" , a = 3 ;; $p=1", "=;a=;,b=1", "a=1; Path=/; HttpOnly", "a\"=1,b=\"2", "a=\\;\"\\\""} {
		f.Add([]byte(s), []byte(" x , y=1"), "a", true)
		f.Add([]byte(s), []byte(""), "", false)
	}
	f.Fuzz(func(t *testing.T, one, two []byte, name string, answer bool) {
		m := &msg.Message{IsResponse: answer}
		field := []byte("cookie")
		if answer {
			field = []byte("Set-Cookie")
		}
		m.AddView(field, one)
		m.AddView([]byte("x"), []byte("a=1"))
		m.AddView(field, two)
		for _, name := range []string{name, ""} {
			whole := newJar(m, name)
			state, n := 0, 0
			for ; whole.next(); n++ {
				if n > len(one)+len(two) {
					t.Fatal("endless")
				}
				cut := newJar(m, name)
				cut.resume(state)
				if !cut.next() || !bytes.Equal(cut.value, whole.value) {
					t.Fatalf("cookie %d is %q, after a pause %q", n, whole.value, cut.value)
				}
				state = cut.mark()
				if !bytes.Contains(one, whole.value) && !bytes.Contains(two, whole.value) {
					t.Fatalf("%q is no part of a field", whole.value)
				}
			}
			cut := newJar(m, name)
			if cut.resume(state); n > 0 && cut.next() {
				t.Fatalf("one more after a pause: %q", cut.value)
			}
		}
		appendCookieNames(nil, m, nil)
	})
}

// FuzzHeaders holds the same for header values.
func FuzzHeaders(f *testing.F) {
	f.Add([]byte("a,, b"), []byte("\"c,d\" , 1.2.3.4"), false)
	f.Add([]byte(""), []byte(","), true)
	f.Fuzz(func(t *testing.T, one, two []byte, whole bool) {
		m := new(msg.Message)
		m.AddView([]byte("X"), one)
		m.AddView([]byte("y"), []byte("z"))
		m.AddView([]byte("x"), two)
		w, state, n := values{m: m, name: "x", whole: whole}, 0, 0
		for ; w.next(); n++ {
			cut := values{m: m, name: "x", whole: whole}
			cut.resume(state)
			if !cut.next() || !bytes.Equal(cut.v, w.v) {
				t.Fatalf("value %d is %q, after a pause %q", n, w.v, cut.v)
			}
			state = cut.pack()
			addressOf(w.v)
		}
		if whole && n != 2 || n < 2 || n > len(one)+len(two)+2 {
			t.Fatalf("%d values", n)
		}
	})
}

// FuzzParams holds that parameters lie in the text and that a name selects from all of them.
func FuzzParams(f *testing.F) {
	f.Add([]byte("/x;a=1;b=2?b=3&a=&A=4"), "a", ";", "i")
	f.Add([]byte("http://u=1@a.b/?a==1"), "", "/", "")
	f.Add([]byte("&;;=&a"), "a", "", "x")
	f.Fuzz(func(t *testing.T, target []byte, name, sep, flag string) {
		c := byte('?')
		if sep != "" {
			c = sep[0]
		}
		fold := flag == "i"
		n := 0
		for off := 0; ; n++ {
			v, after, ok := nextParam(target, off, c, "", fold)
			if !ok {
				break
			}
			if after <= off || n > len(target) {
				t.Fatal("no progress")
			}
			if bytes.IndexByte(v, '&') >= 0 || bytes.IndexByte(v, ';') >= 0 || bytes.IndexByte(v, c) >= 0 {
				t.Fatalf("%q has a separator", v)
			}
			off = after
		}
		if _, _, ok := nextParam(target, 0, c, name, fold); ok && n == 0 {
			t.Fatal("a parameter of a name where there are none")
		}
	})
}

// FuzzAuth holds that nothing in the field of a client makes the decoder read or write outside.
func FuzzAuth(f *testing.F) {
	f.Add([]byte("Basic dGlnZXI6cHc="))
	f.Add([]byte("Basic ===="))
	f.Add([]byte("Bearer  x , y"))
	f.Fuzz(func(t *testing.T, field []byte) {
		tx := &model.Txn{S: nil, Req: new(msg.Message), Final: true, Dir: model.DirRes}
		tx.Req.AddView([]byte("authorization"), field)
		tx.Scratch.Init(&model.ScratchPool{}, 4096)
		var v model.Value
		authBearer(tx, []sample.Arg{{Str: "authorization"}}, &v)
		b, ok := appendDecoded(nil, field)
		if ok && len(b) > len(field) {
			t.Fatalf("%d bytes from %d", len(b), len(field))
		}
	})
}
