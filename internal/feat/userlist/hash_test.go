package userlist

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestHashes compares with what the system's crypt(3) makes of passwords.
func TestHashes(t *testing.T) {
	text, err := os.ReadFile("testdata/crypt.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		quoted, text, _ := strings.Cut(line, "\t")
		password, err := strconv.Unquote(quoted)
		if err != nil {
			t.Fatal(line, err)
		}
		h, err := parseHash(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		n++
		if !h.match([]byte(password)) {
			t.Errorf("%q does not match %s", password, text)
		}
		if h.match([]byte("x" + password)) {
			t.Errorf("%q matches %s", "x"+password, text)
		}
	}
	if n < 140 {
		t.Errorf("%d hashes looked at", n)
	}
}

func TestBadHashes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"secret", "insecure-password"}, {"", "insecure-password"}, {"$6$abc", "insecure-password"}, {"$6", "insecure-password"}, {"$6$a$b", "insecure-password"},
		{"$1$abc$short", "insecure-password"}, {"$1$ninechars$IQtUouv7y7Q9dRWkQEPCc.", "insecure-password"}, {"ab*lUXK5ed5rs", "insecure-password"},
		{"$5$rounds=10$salt$0rl.MZtoLLPP3X0Rdl8riRnphIcAXJY27/aOAyK2hB5", "1000 to 999999999"},
		{"$5$rounds=01000$salt$0rl.MZtoLLPP3X0Rdl8riRnphIcAXJY27/aOAyK2hB5", "insecure-password"},
		{"$5$seventeencharacter$0rl.MZtoLLPP3X0Rdl8riRnphIcAXJY27/aOAyK2hB5", "insecure-password"},
		{"$2b$03$abcdefghijklmnopqrstuuyvPXIbu7xe6/CED2DzX8z6Si09MlzlW", "insecure-password"}, {"$2b$04$short", "insecure-password"},
		{"$2x$04$abcdefghijklmnopqrstuuyvPXIbu7xe6/CED2DzX8z6Si09MlzlW", "faulty bcrypt"},
		{"$y$j75$abcdefgh$ucNXpbrNU2P3.RvS.JhIZXR6f2/HEKzl78QXiIdPQ76", "yescrypt"}, {"$gy$j9T$x$y", "gost-yescrypt"}, {"$7$x$y", "scrypt"},
		{"$sha1$40000$x$y", "SHA-1"}, {"$9$x$y", "no algorithm $9$"}, {"_J9..rasmBYk8r9AiWNc", "extended DES"},
	} {
		if h, err := parseHash(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v %v, want an error with %q", c.text, h, err, c.want)
		}
	}
}

// FuzzParseHash holds that no text makes the parser fail, and that what it takes can be checked.
func FuzzParseHash(f *testing.F) {
	for _, s := range []string{"abzlUXK5ed5rs", "$1$abcdefgh$IQtUouv7y7Q9dRWkQEPCc.", "$5$saltsalt$0rl.MZtoLLPP3X0Rdl8riRnphIcAXJY27/aOAyK2hB5", "$2b$04$abcdefghijklmnopqrstuuyvPXIbu7xe6/CED2DzX8z6Si09MlzlW", "$6$rounds=1400$x$"} {
		f.Add(s, []byte("pw"))
	}
	f.Fuzz(func(t *testing.T, s string, password []byte) {
		h, err := parseHash(s)
		if err != nil || h.cost() > 5 {
			return
		}
		h.match(password)
	})
}
