package balance

import (
	"fmt"
	"strings"
	"testing"

	"weir/internal/engine/server"
	"weir/internal/model"
)

func servers(weights ...int) (list []*server.Server) {
	for i, w := range weights {
		list = append(list, server.New(&model.Server{Name: fmt.Sprint("s", i), Weight: w, ID: i + 1, PoolMaxConn: -1}, 1))
	}
	return list
}

func order(a Algorithm, n int) string {
	var names []string
	for range n {
		s, _ := a.Pick(Choice{})
		if s == nil {
			names = append(names, "-")
			continue
		}
		names = append(names, s.Name)
	}
	return strings.Join(names, " ")
}

func TestRoundRobin(t *testing.T) {
	for _, c := range []struct {
		weights []int
		n       int
		want    string
	}{
		{[]int{1, 1, 1}, 4, "s0 s1 s2 s0"},
		{[]int{2, 1}, 6, "s0 s1 s0 s0 s1 s0"},
		{[]int{256, 256}, 4, "s0 s1 s0 s1"},
		{[]int{0, 3}, 2, "s1 s1"},
		{[]int{0}, 1, "-"},
		{nil, 1, "-"},
	} {
		if got := order(New(&model.Balance{}, servers(c.weights...)), c.n); got != c.want {
			t.Errorf("weights %v: %s, want %s", c.weights, got, c.want)
		}
	}
}

func TestSkipsDisabledFullAndAvoided(t *testing.T) {
	for _, name := range []string{"roundrobin", "first"} {
		list := servers(1, 1, 1)
		list[1].SetMaxConn(1)
		a := New(&model.Balance{Algorithm: name}, list)
		list[0].SetDisabled(true)
		if !list[1].Serve() || list[1].Serve() {
			t.Fatal("maxconn 1 gives one slot")
		}
		if got := order(a, 2); got != "s2 s2" {
			t.Errorf("%s: %s", name, got)
		}
		if s, full := a.Pick(Choice{Avoid: list[2]}); s != list[2] || full {
			t.Errorf("%s: the avoided server is better than none", name)
		}
		list[2].SetDisabled(true)
		if s, full := a.Pick(Choice{}); s != nil || !full {
			t.Errorf("%s: all full: %v %v", name, s, full)
		}
		list[1].SetDisabled(true)
		if s, full := a.Pick(Choice{}); s != nil || full {
			t.Errorf("%s: none usable: %v %v", name, s, full)
		}
	}
}

func TestFirstFillsInOrder(t *testing.T) {
	list := servers(1, 1)
	list[0].SetMaxConn(2)
	a := New(&model.Balance{Algorithm: "first"}, list)
	var got []string
	for range 3 {
		s, _ := a.Pick(Choice{})
		s.Serve()
		got = append(got, s.Name)
	}
	if strings.Join(got, " ") != "s0 s0 s1" {
		t.Error(got)
	}
}
