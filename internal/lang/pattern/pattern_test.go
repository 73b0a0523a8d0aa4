package pattern_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"weir/internal/lang/pattern"
	"weir/internal/lang/sample"
	"weir/internal/lang/sample/sampletest"
	"weir/internal/model"
)

func newTxn() *model.Txn { return sampletest.New(&sampletest.Stream{}, "") }

// value makes a value of a type from its text.
func value(t model.Type, s string) *model.Value {
	v := &model.Value{Type: t, B: []byte(s)}
	switch t {
	case model.TypeSint:
		v.Num = sample.ParseInt(v.B)
	case model.TypeIPv4, model.TypeIPv6:
		v.SetIP(netip.MustParseAddr(s))
	}
	return v
}

// TestMethods holds what each method makes of patterns and values (manual 7.1).
func TestMethods(t *testing.T) {
	for _, c := range []struct {
		method, flags, patterns string
		typ                     model.Type
		yes, no                 string // values, separated by spaces; _ is the empty one
	}{
		{"str", "", "abc a.b", model.TypeStr, "abc a.b", "ab abcd ABC _"},
		{"str", "i", "abc A.B", model.TypeStr, "abc ABC a.b", "ab"},
		{"beg", "", "/static /img/", model.TypeStr, "/static /static/x /img/", "/img /stati x/static _"},
		{"beg", "i", "/Static", model.TypeStr, "/sTATIC/x", "/stati"},
		{"end", "", ".gif .png", model.TypeStr, ".gif a.png", "gif a.png/ _"},
		{"sub", "", "ab xyz", model.TypeStr, "ab cabd wxyz", "a b _"},
		{"dir", "", "images images/png png/logo 32x32.png", model.TypeStr, "/images/png/logo/32x32.png images /a/images?x", "png 32x32 ximages /imagesx _"},
		{"dom", "", "www1 dc-eu.example 80 :blah:", model.TypeStr, "http://www1.dc-eu.example.com:80/blah a.blah", "eu dc www _"},
		{"len", "", "3 5:7 10:", model.TypeStr, "abc abcde abcdefg abcdefghij abcdefghijk", "ab abcd abcdefgh _"},
		{"int", "", "5 10:20 :-3 100:", model.TypeSint, "5 10 20 -3 -100 100 5000", "4 6 9 21 0 -2 99"},
		{"int", "", "5-10 20- -3", model.TypeSint, "5 10 20 99 -3", "4 11 19 -4 3"},
		{"int", "", "ge 5", model.TypeSint, "5 6", "4 -1"}, {"int", "", "gt 5", model.TypeSint, "6", "5"},
		{"int", "", "lt 5", model.TypeSint, "4 -9", "5"}, {"int", "", "le 5 7", model.TypeSint, "5 6 7 -9", "8"},
		{"int", "", "eq 5 lt 2", model.TypeSint, "5 1 0", "2 6"}, {"int", "", "3:3.1", model.TypeSint, "3 196608 196609", "196610 2"},
		{"ip", "", "10.0.0.0/8 192.0.2.1 2001:db8::/32 127.1 10.12/16", model.TypeIPv4, "10.1.2.3 192.0.2.1 127.0.0.1", "11.0.0.1 192.0.2.2"},
		{"ip", "", "10.0.0.0/8 2001:db8::/32 ::1", model.TypeIPv6, "2001:db8::5 ::1 ::ffff:10.1.1.1 2002:a01:101:: ::10.9.9.9", "2001:db9::1 ::2 ::ffff:11.1.1.1"},
		{"ip", "", "::ffff:10.0.0.0/104", model.TypeIPv4, "10.5.5.5", "11.5.5.5"},
		{"ip", "", "192.168.0.0/255.255.0.0", model.TypeIPv4, "192.168.5.5", "192.169.0.1"},
		{"bin", "", "616263 00ff", model.TypeBin, "abc \x00\xff", "ab abcd"},
		{"reg", "", "^a.*z$ [0-9]{3}", model.TypeStr, "az abz x123", "a 12 ABZ _"},
		{"reg", "i", "^a.*z$", model.TypeStr, "AZ aBZ", "b"},
	} {
		spec := &pattern.Spec{Method: c.method, Type: c.typ, Fold: c.flags == "i", Values: strings.Fields(c.patterns)}
		m, at, err := pattern.Compile(&sample.Scope{}, spec)
		if err != nil {
			t.Errorf("%s %s: %v at %d", c.method, c.patterns, err, at)
			continue
		}
		for want, list := range map[bool]string{true: c.yes, false: c.no} {
			for _, s := range strings.Split(list, " ") {
				if s == "_" {
					s = ""
				}
				if got := m.Match(newTxn(), value(c.typ, s)); got != want {
					t.Errorf("%s -%s %s: %q matches %v", c.method, c.flags, c.patterns, s, got)
				}
			}
		}
	}
}

func TestBadPatterns(t *testing.T) {
	for _, c := range []struct {
		method, patterns string
		typ              model.Type
		at               int
	}{
		{"int", "1 x", model.TypeSint, 1}, {"int", "5:2", model.TypeSint, 0}, {"int", "ge", model.TypeSint, 0}, {"int", "1 ge", model.TypeSint, 1},
		{"int", "99999999999999999999", model.TypeSint, 0}, {"ip", "1.2.3.4.5", model.TypeIPv4, 0}, {"ip", "10.0.0.0/33", model.TypeIPv4, 0},
		{"ip", "1.2.3.x", model.TypeIPv4, 0}, {"ip", "::1/129", model.TypeIPv4, 0}, {"ip", "10.0.0.0/255.0.255.0", model.TypeIPv4, 0},
		{"bin", "616", model.TypeBin, 0}, {"bin", "zz", model.TypeBin, 0}, {"reg", "a (b", model.TypeStr, 1}, {"int", "1", model.TypeBin, -1},
		{"nope", "1", model.TypeStr, -1}, {"ip", "1.2.3.4", model.TypeMeth, -1},
	} {
		_, at, err := pattern.Compile(&sample.Scope{}, &pattern.Spec{Method: c.method, Type: c.typ, NoResolve: true, Values: strings.Fields(c.patterns)})
		if err == nil || at != c.at {
			t.Errorf("%s %s: error %v at %d, want one at %d", c.method, c.patterns, err, at, c.at)
			continue
		}
		t.Log(err)
	}
}

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// open loads a list in a configuration of its own.
func open(t testing.TB, name string, asMap bool, m pattern.Method, out pattern.Out) (*pattern.View, error) {
	t.Helper()
	sc := &sample.Scope{Conf: new(model.Config)}
	l, err := pattern.ListsOf(sc.Conf).Open(sc, name, asMap)
	if err != nil {
		return nil, err
	}
	return l.View(m, false, out)
}

func get(v *pattern.View, x *model.Value) string {
	m, ok := v.Find(x, nil)
	if !ok {
		return "-"
	}
	return string(m.Value)
}

// TestMaps holds which entry of several a map finds, as the reference does.
func TestMaps(t *testing.T) {
	for _, c := range []struct {
		m         pattern.Method
		file      string
		typ       model.Type
		key, want string
	}{
		{pattern.Str, "a one\na two\n  b   three four  \n#c x\n\nd\ne\t tab\r\n #f kept\n", model.TypeStr, "a", "one"},
		{pattern.Str, "  b   three four  \n", model.TypeStr, "b", "three four"},
		{pattern.Str, "d\n", model.TypeStr, "d", ""},
		{pattern.Str, "#c x\n", model.TypeStr, "#c", "-"},
		{pattern.Str, " #c x\n", model.TypeStr, "#c", "x"},
		{pattern.Str, "e\t tab\r\n", model.TypeStr, "e", "tab"},
		{pattern.Str, "a last", model.TypeStr, "a", "last"},
		{pattern.Beg, "/st A\n/static B\n/s C\n", model.TypeStr, "/static/x", "B"},
		{pattern.Beg, "/st A\n/static B\n/s C\n", model.TypeStr, "/st", "A"},
		{pattern.IP, "10.0.0.0/8 A\n10.1.0.0/16 B\n10.0.0.0/8 C\n10.1.2.3 D\n10.1.2.3 E\n", model.TypeIPv4, "10.1.2.3", "D"},
		{pattern.IP, "10.0.0.0/8 A\n10.1.0.0/16 B\n10.0.0.0/8 C\n", model.TypeIPv4, "10.1.9.9", "B"},
		{pattern.IP, "10.0.0.0/8 A\n10.1.0.0/16 B\n10.0.0.0/8 C\n", model.TypeIPv4, "10.9.9.9", "A"},
		{pattern.IP, "10.1.2.3 D\n", model.TypeIPv6, "::ffff:10.1.2.3", "D"},
		{pattern.End, "x.com A\ncom B\nb.x.com C\n", model.TypeStr, "b.x.com", "A"},
		{pattern.Dom, "x.com A\ncom B\nb.x.com C\n", model.TypeStr, "b.x.com", "A"},
		{pattern.Reg, "^a.* A\n^ab.* B\n", model.TypeStr, "abc", "A"},
		{pattern.Sub, "aa A\nb B\na C\n", model.TypeStr, "ab", "B"},
		{pattern.Int, "5 B\n1:10 A\n20: C\n", model.TypeSint, "5", "B"},
		{pattern.Int, "5 B\n1:10 A\n20: C\n", model.TypeSint, "6", "A"},
		{pattern.Int, "5 B\n1:10 A\n20: C\n", model.TypeSint, "30", "C"},
	} {
		v, err := open(t, write(t, "m", c.file), true, c.m, pattern.OutStr)
		if err != nil {
			t.Errorf("%q: %v", c.file, err)
			continue
		}
		if got := get(v, value(c.typ, c.key)); got != c.want {
			t.Errorf("%s %q: %s gives %q, want %q", c.m, c.file, c.key, got, c.want)
		}
	}
}

func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		m    pattern.Method
		out  pattern.Out
		want string
	}{
		{filepath.Join(dir, "none"), pattern.Str, pattern.OutStr, "cannot open"}, {dir, pattern.Str, pattern.OutStr, "directory"},
		{fifo, pattern.Str, pattern.OutStr, "regular"}, {"/dev/zero", pattern.Str, pattern.OutStr, "regular"},
		{write(t, "m", "1 10\n2 x\n"), pattern.Str, pattern.OutInt, "line 2"}, {write(t, "m", "a 10.1\n"), pattern.Str, pattern.OutIP, "line 1"},
		{write(t, "m", "1 a\ngt b\n"), pattern.Int, pattern.OutStr, "line 2"}, {write(t, "m", "10.0.0.1 a\n\n#\nx. b\n"), pattern.IP, pattern.OutStr, "line 4"},
		{write(t, "m", "(a b\n"), pattern.Reg, pattern.OutStr, "line 1"}, {write(t, "m", strings.Repeat("x", 2<<20)), pattern.Str, pattern.OutStr, "1048576 bytes"},
		{"virt@", pattern.Str, pattern.OutStr, "name"},
	} {
		_, err := open(t, c.name, true, c.m, c.out)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s: %v, want %q", c.name, err, c.want)
		}
	}
	for _, name := range []string{"opt@" + filepath.Join(dir, "none"), "virt@some"} {
		if v, err := open(t, name, true, pattern.Str, pattern.OutStr); err != nil || v.Len() != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAddressesAgainstNaive compares with a list of prefixes that is walked.
func TestAddressesAgainstNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	addr := func() netip.Addr {
		if r.IntN(3) == 0 {
			var b [16]byte
			b[0], b[1], b[15] = 0x26, byte(r.IntN(3)), byte(r.IntN(4))
			return netip.AddrFrom16(b)
		}
		return netip.AddrFrom4([4]byte{10, byte(r.IntN(3)), byte(r.IntN(4)), byte(r.IntN(8))})
	}
	for round := range 50 {
		var all []netip.Prefix
		var file strings.Builder
		for i := range 1 + r.IntN(60) {
			a := addr()
			p := netip.PrefixFrom(a, a.BitLen()-[]int{0, 0, 0, 1, 4, 8, 16, 24, 32}[r.IntN(9)])
			all = append(all, p.Masked())
			fmt.Fprintf(&file, "%s %d\n", p, i)
		}
		v, err := open(t, write(t, "m", file.String()), true, pattern.IP, pattern.OutStr)
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			a := addr()
			best, want := -1, "-"
			for i, p := range all {
				if p.Contains(a) && p.Bits() > best {
					best, want = p.Bits(), fmt.Sprint(i)
				}
			}
			x := new(model.Value)
			x.SetIP(a)
			if got := get(v, x); got != want {
				t.Fatalf("round %d: %s gives %s, want %s in\n%s", round, a, got, want, file.String())
			}
		}
	}
}

// TestPrefixesAgainstNaive compares short and long lists of prefixes with a walk over all of them.
func TestPrefixesAgainstNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	word := func() string {
		b := make([]byte, 1+r.IntN(6))
		for i := range b {
			b[i] = "ab/"[r.IntN(3)]
		}
		return string(b)
	}
	for _, n := range []int{1, 5, 16, 17, 100} {
		var keys []string
		var file strings.Builder
		for i := range n {
			keys = append(keys, word())
			fmt.Fprintf(&file, "%s %d\n", keys[i], i)
		}
		v, err := open(t, write(t, "m", file.String()), true, pattern.Beg, pattern.OutStr)
		if err != nil {
			t.Fatal(err)
		}
		for range 500 {
			s, best, want := word(), -1, "-"
			for i, k := range keys {
				if strings.HasPrefix(s, k) && len(k) > best {
					best, want = len(k), fmt.Sprint(i)
				}
			}
			if got := get(v, value(model.TypeStr, s)); got != want {
				t.Fatalf("%d prefixes: %q gives %s, want %s", n, s, got, want)
			}
		}
	}
}

// TestEdits changes a list at run time, under several views, and compares with a plain map.
func TestEdits(t *testing.T) {
	sc := &sample.Scope{Conf: new(model.Config)}
	lists := pattern.ListsOf(sc.Conf)
	l, err := lists.Open(sc, "virt@edits", true)
	if err != nil {
		t.Fatal(err)
	}
	str, err := l.View(pattern.Str, false, pattern.OutStr)
	if err != nil {
		t.Fatal(err)
	}
	beg, err := l.View(pattern.Beg, false, pattern.OutStr)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 6))
	have := make(map[string]string)
	for i := range 6000 {
		k := fmt.Sprintf("k%d/", r.IntN(3000))
		v := fmt.Sprint(i)
		switch _, ok := have[k]; {
		case !ok && r.IntN(8) > 0:
			if err := l.Add(k, v); err != nil {
				t.Fatal(err)
			}
			have[k] = v
		case ok && r.IntN(40) == 0:
			if err := l.Del(k); err != nil {
				t.Fatal(err)
			}
			delete(have, k)
		case ok && r.IntN(40) == 1:
			if err := l.Set(k, v); err != nil {
				t.Fatal(err)
			}
			have[k] = v
		case !ok:
			if err := l.Del(k); err != pattern.ErrNoEntry {
				t.Fatalf("deleting what is not there: %v", err)
			}
		}
		if want, got := have[k], get(str, value(model.TypeStr, k)); got != want && !(want == "" && got == "-") {
			t.Fatalf("step %d: %s is %q, want %q", i, k, got, want)
		}
	}
	if l.Len() != len(have) {
		t.Errorf("%d entries, want %d", l.Len(), len(have))
	}
	for k, v := range have {
		if got := get(beg, value(model.TypeStr, k+"more")); got != v {
			t.Fatalf("%s begins with an entry of value %q, not %q", k, v, got)
		}
	}
	l.Clear()
	if l.Len() != 0 || get(str, value(model.TypeStr, "k1/")) != "-" {
		t.Error("a cleared list has entries")
	}
}

func TestVersions(t *testing.T) {
	sc := &sample.Scope{Conf: new(model.Config)}
	l, _ := pattern.ListsOf(sc.Conf).Open(sc, "virt@v", true)
	v, err := l.View(pattern.Str, false, pattern.OutInt)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(l.Add("a", "1"))
	one, two := l.Prepare(), l.Prepare()
	must(l.AddVersion(one, "a", "10"))
	must(l.AddVersion(two, "b", "20"))
	if err := l.AddVersion(two, "c", "x"); err == nil {
		t.Error("a value that is no integer was taken")
	}
	if err := l.AddVersion(99, "c", "1"); err != pattern.ErrNoVersion {
		t.Errorf("unknown version: %v", err)
	}
	if got := get(v, value(model.TypeStr, "a")); got != "1" {
		t.Errorf("a prepared version shows: %s", got)
	}
	must(l.Commit(two))
	if a, b := get(v, value(model.TypeStr, "a")), get(v, value(model.TypeStr, "b")); a != "-" || b != "20" {
		t.Errorf("after the commit: a %s, b %s", a, b)
	}
	if err := l.Commit(one); err != pattern.ErrNoVersion {
		t.Errorf("an older version was committed: %v", err)
	}
	if cur, next := l.Versions(); cur != two || next != two {
		t.Errorf("versions %d, %d", cur, next)
	}
	three := l.Prepare()
	must(l.AddVersion(three, "x", "1"))
	if n := l.Entries(); n != 2 {
		t.Errorf("%d entries in all versions, not 2", n)
	}
	l.ClearVersion(three)
	must(l.Commit(three))
	if l.Len() != 0 {
		t.Errorf("a version that was emptied has %d entries", l.Len())
	}
}

// TestLargeList changes a list that is too large to be made again each time, and holds it against a plain model.
func TestLargeList(t *testing.T) {
	sc := &sample.Scope{Conf: new(model.Config)}
	l, _ := pattern.ListsOf(sc.Conf).Open(sc, "virt@large", true)
	v, err := l.View(pattern.Str, true, pattern.OutStr)
	if err != nil {
		t.Fatal(err)
	}
	type entry struct{ key, value string }
	var want []entry
	add := func(k, val string) {
		if err := l.Add(k, val); err != nil {
			t.Fatal(err)
		}
		want = append(want, entry{k, val})
	}
	for i := range 6000 {
		add(fmt.Sprintf("key%d", i%5500), fmt.Sprint(i))
	}
	add("KEY7", "other case")
	rng := rand.New(rand.NewPCG(7, 7))
	for step := range 12000 {
		k := fmt.Sprintf("key%d", rng.IntN(5600))
		first := slices.IndexFunc(want, func(e entry) bool { return e.key == k })
		switch rng.IntN(4) {
		case 0:
			add(k, fmt.Sprint("new", step))
		case 1:
			if err := l.DelFirst(k); (err == nil) != (first >= 0) {
				t.Fatalf("step %d: removing %s: %v", step, k, err)
			}
			if first >= 0 {
				want = slices.Delete(want, first, first+1)
			}
		case 2:
			if err := l.Del(k); (err == nil) != (first >= 0) {
				t.Fatalf("step %d: removing all of %s: %v", step, k, err)
			}
			want = slices.DeleteFunc(want, func(e entry) bool { return e.key == k })
		case 3:
			if err := l.Set(k, fmt.Sprint("set", step)); (err == nil) != (first >= 0) {
				t.Fatalf("step %d: setting %s: %v", step, k, err)
			}
			for i := range want {
				if want[i].key == k {
					want[i].value = fmt.Sprint("set", step)
				}
			}
		}
		got := get(v, value(model.TypeStr, k))
		ok := got == "-"
		for _, e := range want {
			if strings.EqualFold(e.key, k) {
				ok = got == e.value // the first of equal keys decides
				break
			}
		}
		if !ok && !slices.ContainsFunc(want, func(e entry) bool { return strings.EqualFold(e.key, k) && e.value == got }) {
			t.Fatalf("step %d: %s is %q", step, k, got)
		}
		if l.Len() != len(want) {
			t.Fatalf("step %d: %d entries, not %d", step, l.Len(), len(want))
		}
	}
}

// TestEditsBesideReaders is for the race detector.
func TestEditsBesideReaders(t *testing.T) {
	sc := &sample.Scope{Conf: new(model.Config)}
	l, _ := pattern.ListsOf(sc.Conf).Open(sc, "virt@r", true)
	v, err := l.View(pattern.IP, false, pattern.OutStr)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		wg.Go(func() {
			x := value(model.TypeIPv4, "10.0.0.7")
			for {
				select {
				case <-stop:
					return
				default:
					v.Find(x, nil)
				}
			}
		})
	}
	for i := range 2000 {
		if err := l.Add(fmt.Sprintf("10.0.%d.%d", i>>8, i&255), "x"); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
	if v.Len() != 2000 {
		t.Errorf("%d entries", v.Len())
	}
}

func TestFindAllocates0(t *testing.T) {
	file := write(t, "m", "10.0.0.0/8 a\n10.1.1.1 b\n")
	ip, err := open(t, file, true, pattern.IP, pattern.OutStr)
	if err != nil {
		t.Fatal(err)
	}
	str, err := open(t, write(t, "s", "abc 1\ndef 2\n"), true, pattern.Str, pattern.OutStr)
	if err != nil {
		t.Fatal(err)
	}
	a, b, s := value(model.TypeIPv4, "10.1.1.1"), value(model.TypeIPv4, "10.2.2.2"), value(model.TypeStr, "def")
	if n := testing.AllocsPerRun(100, func() { ip.Find(a, nil); ip.Find(b, nil); str.Find(s, nil) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestMemoryOfManyAddresses holds the price of an address: two bytes and a fixed index.
func TestMemoryOfManyAddresses(t *testing.T) {
	n := 1 << 20
	if os.Getenv("WEIR_SCALE") != "" {
		n = 17_700_000
	}
	r := rand.New(rand.NewPCG(7, 8))
	var b strings.Builder
	for range n {
		a := r.Uint32()
		fmt.Fprintf(&b, "%d.%d.%d.%d\n", a>>24, a>>16&255, a>>8&255, a&255)
	}
	path := write(t, "ips", b.String())
	b.Reset()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	began := time.Now()
	v, err := open(t, path, false, pattern.IP, pattern.OutStr)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := float64(after.HeapAlloc-before.HeapAlloc) / float64(n)
	t.Logf("%d addresses: %.2f bytes each, %v", n, each, took)
	if each > 3.5 {
		t.Errorf("%.2f bytes an address", each)
	}
	if v.Len() != n {
		t.Errorf("%d entries", v.Len())
	}
}

func FuzzFile(f *testing.F) {
	for _, s := range []string{"a b\n#c\n d e\n", "10.0.0.0/8 x\n::1 y\n", "1:5 a\n", "^(a|b) x\n", "00ff z\n"} {
		f.Add(s, uint8(0))
	}
	f.Fuzz(func(t *testing.T, text string, m uint8) {
		if strings.ContainsAny(text, "abcdefghijklmnopqrstuvwxyz") && pattern.Method(m%13) == pattern.IP {
			return // names would be looked up
		}
		method := pattern.Method(m % 13)
		if method == pattern.Found || method == pattern.Bool {
			return
		}
		v, err := open(t, write(t, "f", text), m&128 != 0, method, pattern.OutStr)
		if err != nil {
			return
		}
		n := 0
		v.Each(func(key, _ []byte) bool {
			n++
			x := model.Value{Type: model.TypeStr, B: key}
			if method.Input() == model.TypeStr {
				v.Find(&x, nil)
			}
			return true
		})
		if method != pattern.IP && n != v.Len() {
			t.Fatalf("%d entries, %d walked", v.Len(), n)
		}
	})
}
