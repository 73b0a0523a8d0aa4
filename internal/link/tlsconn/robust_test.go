package tlsconn

import (
	"bytes"
	"crypto"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"weir/internal/base/buf"
	"weir/internal/rt/loop"
	"weir/internal/rt/sock"
)

// raw sends p below TLS.
func raw(s *sock.Conn, p []byte) {
	for len(p) > 0 {
		b := s.Loop().Pool().Get(buf.Large)
		p = p[b.Append(p):]
		s.Send(b)
	}
}

// wait reads and forgets until the other side has closed.
func wait(f *loop.Fiber, s *sock.Conn) {
	for end := f.Loop().Now() + patience; f.Loop().Now() < end; {
		b, err := s.Recv(buf.Std)
		switch {
		case err != nil:
			return
		case b != nil:
			b.Release()
		default:
			f.Park(end)
		}
	}
}

// keys are the sending side of a TLS 1.3 connection, for records that crypto/tls would not make.
type keys struct {
	secret []byte
	aead   cipher.AEAD
	iv     []byte
	seq    uint64
}

func label(secret []byte, name string, n int) []byte {
	info := binary.BigEndian.AppendUint16(nil, uint16(n))
	info = append(info, byte(6+len(name)))
	info = append(append(info, "tls13 "+name...), 0)
	out, _ := hkdf.Expand(sha256.New, secret, string(info), n)
	return out
}

func newKeys(secret []byte) *keys {
	block, _ := aes.NewCipher(label(secret, "key", 16))
	aead, _ := cipher.NewGCM(block)
	return &keys{secret: secret, aead: aead, iv: label(secret, "iv", 12)}
}

// record enciphers a message of a type.
func (k *keys) record(msg []byte, typ byte) []byte {
	nonce := bytes.Clone(k.iv)
	for i := range 8 {
		nonce[4+i] ^= byte(k.seq >> (56 - 8*i))
	}
	k.seq++
	head := binary.BigEndian.AppendUint16([]byte{23, 3, 3}, uint16(len(msg)+1+16))
	return append(head, k.aead.Seal(nil, nonce, append(bytes.Clone(msg), typ), head)...)
}

// keyUpdate makes a message that changes the keys, and changes them.
func (k *keys) keyUpdate() []byte {
	r := k.record([]byte{24, 0, 0, 1, 1}, 22)
	*k = *newKeys(label(k.secret, "traffic upd", 32))
	return r
}

// TestAdvisoryKeyUpdateFlood (security row 100): each new key costs work; a flood of them ends the connection.
func TestAdvisoryKeyUpdateFlood(t *testing.T) {
	for _, c := range []struct {
		name string
		n    int
		data bool // each is followed by data, so that crypto/tls sees progress
		ends bool
	}{{"few", 10, false, false}, {"flood", 2000, false, true}, {"flood among data", 2000, true, true}} {
		t.Run(c.name, func(t *testing.T) {
			worlds(t, func(t *testing.T, w *world) { keyUpdates(t, w, c.n, c.data, c.ends) })
		})
	}
}

func keyUpdates(t *testing.T, w *world, n int, data, ends bool) {
	p := configs(t, ecKey(t))
	var log bytes.Buffer
	p.client.KeyLogWriter = &log
	p.client.CurvePreferences = []tls.CurveID{tls.X25519}
	w.run(func(f *loop.Fiber, s *sock.Conn) {
		c, err := Server(f, s, p.server, &Options{})
		if err != nil {
			t.Error(err)
		}
		got := 0
		for err == nil {
			var b *buf.Buf
			if b, err = get(f, c); b != nil {
				got += b.Len()
				b.Release()
			}
		}
		if ends && (err == io.EOF || data && err != ErrUseless) || !ends && err != io.EOF || got > 2*maxUseless {
			t.Errorf("ended with %v after %d bytes", err, got)
		}
		c.Close()
	}, func(f *loop.Fiber, s *sock.Conn) {
		c, err := Client(f, s, p.client, &Options{})
		if err != nil {
			t.Error(err)
		}
		_, line, _ := strings.Cut(log.String(), "CLIENT_TRAFFIC_SECRET_0 ")
		secret, err := hex.DecodeString(strings.Fields(line)[1])
		if err != nil || c.State().CipherSuite != tls.TLS_AES_128_GCM_SHA256 {
			t.Error(err, c.State().CipherSuite)
		}
		k := newKeys(secret)
		for range n {
			raw(s, k.keyUpdate())
			if data {
				raw(s, k.record([]byte("x"), 23))
			}
		}
		s.Shutdown()
		wait(f, s)
		c.Abort()
	})
}

// TestHello feeds the handshake what is no proper hello: it ends with an error, never with a panic or a wait.
func TestHello(t *testing.T) {
	p := configs(t, ecKey(t))
	good := hello(t, p.client)
	rnd := rand.New(rand.NewPCG(1, 2))
	cases := map[string][]byte{
		"HTTP": []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
		"zero": make([]byte, 64),
		// security row 101: a handshake message that announces 16 MB
		"large message": append([]byte{22, 3, 1, 0x3f, 0xff, 1, 0xff, 0xff, 0xff}, make([]byte, 40000)...),
		"long record":   append([]byte{22, 3, 1, 0xff, 0xff}, make([]byte, 70000)...),
		"alert":         {21, 3, 1, 0, 2, 2, 40},
		"SSLv2":         {0x80, 0x2e, 1, 0, 2, 0, 0x15, 0, 0, 0, 0x10},
		"half":          good[:len(good)/2],
	}
	named := map[string]string{ // as the reference calls them
		"HTTP": "http request", "zero": "wrong version number", "SSLv2": "wrong version number", "long record": "packet length too long", "half": "",
		"proxy": "https proxy request", "old": "unsupported protocol",
	}
	cases["proxy"] = []byte("CONNECT a:1 HTTP/1.0\r\n\r\n")
	cases["old"] = hello(t, &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11, InsecureSkipVerify: true})
	for i := range 40 {
		b := bytes.Clone(good)
		for range 1 + rnd.IntN(8) {
			b[rnd.IntN(len(b))] = byte(rnd.Uint32())
		}
		cases["mutant "+string(rune('A'+i))] = b
	}
	for name, in := range cases {
		t.Run(name, func(t *testing.T) {
			worlds(t, func(t *testing.T, w *world) {
				w.run(func(f *loop.Fiber, s *sock.Conn) {
					c, err := Server(f, s, p.server, &Options{Deadline: w.l.Now() + patience, Capture: 100})
					if err == nil || len(c.Hello()) > 100 {
						t.Errorf("%v, %d bytes kept", err, len(c.Hello()))
					}
					code, text := Reason(err)
					if want, ok := named[name]; ok && text != want || (code == 0) != (text == "") {
						t.Errorf("%v is %#x, %q, not %q", err, code, text, want)
					}
					c.Close()
				}, func(f *loop.Fiber, s *sock.Conn) {
					raw(s, in)
					s.Shutdown()
					wait(f, s)
					s.Close()
				})
			})
		})
	}
}

// catch is a net.Conn of which only Write is used.
type catch struct {
	sock.NetConn
	bytes.Buffer
}

func (c *catch) Write(p []byte) (int, error) { return c.Buffer.Write(p) }
func (c *catch) Read([]byte) (int, error)    { return 0, io.EOF }
func (c *catch) Close() error                { return nil }

func hello(t *testing.T, cfg *tls.Config) []byte {
	c := new(catch)
	if err := tls.Client(c, cfg).Handshake(); err == nil {
		t.Fatal("a handshake with nobody")
	}
	return c.Bytes()
}

// TestAdvisoryStalled (security rows 99 and 109): a client that stops in the middle of its hello is cut at the deadline, and what it
// sends meanwhile does not move it.
func TestAdvisoryStalled(t *testing.T) {
	p := configs(t, ecKey(t))
	good := hello(t, p.client)
	worlds(t, func(t *testing.T, w *world) {
		w.run(func(f *loop.Fiber, s *sock.Conn) {
			began := w.l.Now()
			c, err := Server(f, s, p.server, &Options{Deadline: began + int64(60*time.Millisecond)})
			if err != ErrTimeout {
				t.Error(err)
			}
			c.Close()
		}, func(f *loop.Fiber, s *sock.Conn) {
			for i := 0; i < 100 && s.Err() == nil && !s.EOF(); i++ {
				raw(s, good[i:i+1])
				f.Park(w.l.Now() + int64(5*time.Millisecond))
			}
			wait(f, s)
			s.Close()
		})
	})
}

// TestCheckEndsHandshake: who waits for a handshake can give it up.
func TestCheckEndsHandshake(t *testing.T) {
	p := configs(t, ecKey(t))
	gone := errors.New("nobody waits")
	worlds(t, func(t *testing.T, w *world) {
		w.run(func(f *loop.Fiber, s *sock.Conn) {
			c, err := Server(f, s, p.server, &Options{Check: func() error { return gone }})
			if !errors.Is(err, gone) {
				t.Error(err)
			}
			c.Close()
		}, func(f *loop.Fiber, s *sock.Conn) {
			raw(s, []byte{22})
			wait(f, s)
			s.Close()
		})
	})
}

// TestEarlyRecords: the first data travels in small records.
func TestEarlyRecords(t *testing.T) {
	worlds(t, func(t *testing.T, w *world) {
		c := &Conn{rec: Records{Early: 1400, Idle: int64(time.Second)}}
		w.run(func(f *loop.Fiber, s *sock.Conn) {
			c.s, c.when = s, w.l.Now()
			for range earlyBytes/1400 + 1 {
				if n := c.recordSize(9000); n != 1400 {
					t.Error(n)
				}
			}
			if n := c.recordSize(9000); n != 9000 {
				t.Error(n)
			}
			c.when -= 2 * int64(time.Second)
			if n := c.recordSize(9000); n != 1400 {
				t.Error(n)
			}
			s.Close()
		}, func(f *loop.Fiber, s *sock.Conn) { wait(f, s); s.Close() })
	})
}

// fakeKey signs with noise.
type fakeKey struct{ pub crypto.PublicKey }

func (k fakeKey) Public() crypto.PublicKey { return k.pub }
func (k fakeKey) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) {
	return make([]byte, 2048), nil
}

// TestAdvisoryHugeKey (security row 101): a client's key of 16384 bits is refused before anything is worked out with it.
func TestAdvisoryHugeKey(t *testing.T) {
	p := configs(t, ecKey(t))
	p.server.ClientAuth = tls.RequireAnyClientCert
	n := new(big.Int).Lsh(big.NewInt(1), 16383)
	pub := &rsa.PublicKey{N: n.Add(n, big.NewInt(0x10001)), E: 65537}
	ca := ecKey(t)
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(nil, tmpl, tmpl, pub, ca)
	if err != nil {
		t.Fatal(err)
	}
	p.client.Certificates = []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: fakeKey{pub}}}
	worlds(t, func(t *testing.T, w *world) {
		w.run(func(f *loop.Fiber, s *sock.Conn) {
			began := time.Now()
			c, err := Server(f, s, p.server, &Options{Deadline: w.l.Now() + patience})
			if err == nil || !strings.Contains(err.Error(), "RSA key larger than") || time.Since(began) > 5*time.Second {
				t.Errorf("%v after %v", err, time.Since(began))
			}
			c.Close()
		}, func(f *loop.Fiber, s *sock.Conn) {
			c, _ := Client(f, s, p.client, &Options{Deadline: w.l.Now() + patience})
			wait(f, s)
			c.Close()
		})
	})
}
