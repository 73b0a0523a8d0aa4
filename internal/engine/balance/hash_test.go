package balance

import (
	"fmt"
	"strings"
	"testing"

	"weir/internal/engine/server"
	"weir/internal/model"
)

// where returns the numbers of the servers that the keys lead to, seven servers of weight 1.
func where(t *testing.T, conf *model.Balance, keys ...string) string {
	t.Helper()
	a, h := New(conf, servers(1, 1, 1, 1, 1, 1, 1)), NewHasher(conf)
	return through(a, h, keys)
}

func through(a Algorithm, h Hasher, keys []string) string {
	var out []string
	for _, k := range keys {
		s, _ := a.Pick(Choice{Hash: h.Sum([]byte(k), false), Keyed: true})
		out = append(out, strings.TrimPrefix(s.Name, "s"))
	}
	return strings.Join(out, " ")
}

// Where the reference (3.5) sends the same keys.
func TestHashesOfTheReference(t *testing.T) {
	var uris, digits []string
	for i := range 12 {
		digits = append(digits, fmt.Sprint(i))
		if i < 6 {
			uris = append(uris, fmt.Sprint("/abc", i))
		}
	}
	for _, c := range []struct {
		fn         model.HashFunc
		consistent bool
		avalanche  bool
		keys       []string
		want       string
	}{
		{"", false, false, digits, "6 0 1 2 3 4 5 6 0 1 6 0"},
		{"sdbm", false, false, digits, "6 0 1 2 3 4 5 6 0 1 6 0"},
		{"djb2", false, false, digits, "3 4 5 6 0 1 2 3 4 5 5 6"},
		{"wt6", false, false, digits, "3 1 0 5 4 2 4 2 1 6 0 1"},
		{"crc32", false, false, digits, "4 2 0 6 1 6 2 4 1 0 6 2"},
		{"none", false, false, digits, "0 1 2 3 4 5 6 0 1 2 3 4"},
		{"sdbm", false, true, digits, "2 4 0 5 5 3 4 2 4 0 1 5"},
		{"none", false, true, digits, "2 3 5 0 4 6 5 1 2 3 6 5"},
		{"", true, false, digits, "5 2 3 5 4 0 0 3 0 5 5 1"},
		{"sdbm", true, false, uris, "0 0 0 0 0 0"},
		{"djb2", true, false, uris, "3 3 3 3 3 3"},
		{"wt6", true, false, uris, "4 4 0 4 5 1"},
		{"crc32", true, false, uris, "0 2 4 3 5 5"},
		{"sdbm", true, true, uris, "3 0 4 4 6 0"},
		{"none", true, false, uris, "4 4 4 4 4 4"},
		{"none", true, false, strings.Fields("0 100000000 200000000 300000000 400000000 500000000 600000000 700000000 800000000 900000000"), "4 2 3 5 3 0 2 3 5 0"},
	} {
		if got := where(t, &model.Balance{Algorithm: "hash", Hash: c.fn, Consistent: c.consistent, Avalanche: c.avalanche}, c.keys...); got != c.want {
			t.Errorf("%q consistent %v avalanche %v: %s, want %s", c.fn, c.consistent, c.avalanche, got, c.want)
		}
	}
}

// The layout of maps with weights, as the reference's static-rr shows it.
func TestLayout(t *testing.T) {
	for _, c := range []struct {
		weights []int
		want    string
	}{
		{[]int{1, 1, 1}, "012"}, {[]int{2, 1}, "001"}, {[]int{1, 2}, "011"}, {[]int{3, 2, 1}, "001012"}, {[]int{1, 2, 3}, "021212"},
		{[]int{3, 1, 2}, "002012"}, {[]int{5, 1, 1}, "0001002"}, {[]int{1, 1, 5}, "0221222"}, {[]int{4, 2}, "001"}, {[]int{2, 4}, "011"},
		{[]int{1, 3, 1}, "01112"}, {[]int{7, 3}, "0001001001"}, {[]int{2, 2, 3}, "0120212"}, {[]int{0, 3}, "1"}, {[]int{0}, ""}, {nil, ""},
	} {
		var got string
		for _, s := range layout(servers(c.weights...)) {
			got += strings.TrimPrefix(s.Name, "s")
		}
		if got != c.want {
			t.Errorf("weights %v: %s, want %s", c.weights, got, c.want)
		}
	}
}

func TestRingOfTheReference(t *testing.T) {
	var keys []string
	for i := range 20 {
		keys = append(keys, fmt.Sprint("/abc", i))
	}
	conf := &model.Balance{Algorithm: "uri", Consistent: true}
	for _, c := range []struct {
		change func(i int, s *model.Server)
		want   string
	}{
		{func(i int, s *model.Server) { s.Weight = []int{3, 1, 2}[i] }, "0 2 2 0 0 2 0 2 2 2 1 1 2 0 0 0 0 0 1 2"},
		{func(i int, s *model.Server) { s.Weight = []int{256, 1, 100}[i] }, "2 2 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 2 0 0"},
		{func(i int, s *model.Server) { s.ID = []int{1048577, 77, 268435457}[i] }, "0 0 1 1 1 0 2 2 2 1 1 2 0 0 1 2 0 2 2 2"},
		{func(i int, s *model.Server) { s.ID = []int{1, 77, 3}[i] }, "0 0 1 1 1 0 0 0 2 2 1 0 2 0 2 0 0 0 2 2"},
		{func(i int, s *model.Server) { s.ID = 5 + 1000*i }, "2 2 2 0 0 2 1 0 1 2 1 2 2 1 1 2 0 0 2 2"},
		{func(i int, s *model.Server) { s.HashKey, s.GUID = "guid", fmt.Sprint("g", i) }, "0 0 1 2 1 0 2 1 1 2 1 2 1 1 1 0 0 2 0 2"},
	} {
		list := servers(1, 1, 1)
		for i, s := range list {
			c.change(i, s.Conf)
			list[i] = server.New(s.Conf, 1)
		}
		if got := through(New(conf, list), NewHasher(conf), keys); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// On a ring, only the keys of a server that leaves go elsewhere; on a map all servers share the keys anew.
func TestServersThatLeave(t *testing.T) {
	for _, consistent := range []bool{true, false} {
		list := servers(1, 1, 1, 1)
		conf := &model.Balance{Algorithm: "hash", Consistent: consistent}
		a, h := New(conf, list), NewHasher(conf)
		before := map[string]*server.Server{}
		for i := range 200 {
			k := fmt.Sprint("key", i)
			before[k], _ = a.Pick(Choice{Hash: h.Sum([]byte(k), false), Keyed: true})
		}
		list[1].SetDisabled(true)
		a.Update()
		for k, was := range before {
			s, full := a.Pick(Choice{Hash: h.Sum([]byte(k), false), Keyed: true})
			if s == list[1] || full || consistent && was != list[1] && s != was {
				t.Errorf("consistent %v: %s went to %s, now to %v", consistent, k, was.Name, s)
			}
		}
		for _, s := range list {
			s.SetDisabled(true)
		}
		a.Update()
		if s, full := a.Pick(Choice{Keyed: true}); s != nil || full {
			t.Errorf("consistent %v: nobody is up, but %v serves", consistent, s)
		}
	}
}

func TestAffinity(t *testing.T) {
	for _, consistent := range []bool{true, false} {
		for affinity, leaves := range map[model.Affinity]bool{model.AffinityAlways: false, model.AffinityMaxConn: true, model.AffinityMaxQueue: false} {
			list := servers(1, 1, 1)
			for _, s := range list {
				s.Conf.MaxQueue = 1
				s.SetMaxConn(1)
			}
			a := New(&model.Balance{Algorithm: "hash", Consistent: consistent, Affinity: affinity}, list)
			c := Choice{Hash: 12345, Keyed: true}
			home, full := a.Pick(c)
			if full || !home.Serve() {
				t.Fatal("the server has room")
			}
			if s, full := a.Pick(c); (s != home) != leaves || full == leaves {
				t.Errorf("consistent %v affinity %v: %v %v", consistent, affinity, s.Name, full)
			}
		}
	}
}

func TestBoundedLoad(t *testing.T) {
	list := servers(1, 1)
	a := New(&model.Balance{Algorithm: "hash", Consistent: true, Factor: 150}, list)
	for range 100 {
		s, _ := a.Pick(Choice{Hash: 12345, Keyed: true})
		s.Serve()
	}
	if x, y := list[0].Cur.Cur(), list[1].Cur.Cur(); min(x, y) < 25 || max(x, y) > 75 {
		t.Errorf("%d and %d: at most three quarters may go to one", x, y)
	}
}

func TestLeastConn(t *testing.T) {
	take := func(n int, list []*server.Server) (got string) {
		a := New(&model.Balance{Algorithm: "leastconn"}, list)
		for range n {
			s, full := a.Pick(Choice{})
			if s == nil {
				return got + map[bool]string{true: "-", false: "!"}[full]
			}
			s.Serve()
			got += strings.TrimPrefix(s.Name, "s")
		}
		return got
	}
	for _, c := range []struct {
		weights []int
		want    string
	}{
		{[]int{1, 1, 1}, "01201201"}, {[]int{3, 1}, "01000010001000"}, {[]int{10, 1}, "01000000000"}, {[]int{5, 4}, "01010101001010"}, {[]int{0, 1}, "11"}, {nil, "!"},
	} {
		if got := take(len(c.want), servers(c.weights...)); got != c.want {
			t.Errorf("weights %v: %s, want %s", c.weights, got, c.want)
		}
	}
	list := servers(1, 1, 1)
	for i, n := range []int{2, 5, 1} {
		list[i].SetMaxConn(n)
	}
	if got := take(9, list); got != "01201111-" {
		t.Error(got)
	}
	list = servers(1, 1)
	a := New(&model.Balance{Algorithm: "leastconn"}, list)
	if s, _ := a.Pick(Choice{Avoid: list[0]}); s != list[1] {
		t.Error("the avoided server was taken")
	}
	list[1].SetDisabled(true)
	if s, _ := a.Pick(Choice{Avoid: list[0]}); s != list[0] {
		t.Error("the avoided server is better than none")
	}
}

func TestRandom(t *testing.T) {
	list := servers(1, 1, 1, 1)
	a := New(&model.Balance{Algorithm: "random", Draws: 4}, list)
	for range 400 {
		s, _ := a.Pick(Choice{})
		s.Serve()
	}
	for _, s := range list {
		if n := s.Cur.Cur(); n < 80 || n > 120 {
			t.Errorf("%s has %d of 400", s.Name, n)
		}
	}
	for _, s := range list[:3] {
		s.SetMaxConn(1) // all full
	}
	if s, full := a.Pick(Choice{}); s != list[3] || full {
		t.Errorf("only the last has room: %v %v", s, full)
	}
}

func TestPickAllocatesNothing(t *testing.T) {
	for _, conf := range []model.Balance{{}, {Algorithm: "static-rr"}, {Algorithm: "leastconn"}, {Algorithm: "random"}, {Algorithm: "hash"}, {Algorithm: "hash", Consistent: true, Factor: 120}} {
		a := New(&conf, servers(1, 2, 3))
		if n := testing.AllocsPerRun(100, func() { a.Pick(Choice{Hash: 7, Keyed: true}) }); n != 0 {
			t.Errorf("%s: %v allocations", conf.Algorithm, n)
		}
	}
}

func BenchmarkLeastConn(b *testing.B) {
	for _, n := range []int{3, 100, 1000} {
		weights := make([]int, n)
		for i := range weights {
			weights[i] = 1
		}
		a := New(&model.Balance{Algorithm: "leastconn"}, servers(weights...))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				a.Pick(Choice{})
			}
		})
	}
}
