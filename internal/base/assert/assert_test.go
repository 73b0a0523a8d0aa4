package assert

import "testing"

func panics(fn func()) (p bool) {
	defer func() { p = recover() != nil }()
	fn()
	return false
}

func TestGrades(t *testing.T) {
	if got := panics(func() { That(false, "x") }); got != On {
		t.Fatalf("That(false) panics = %v, assertion build = %v", got, On)
	}
	if panics(func() { That(true, "x") }) || panics(func() { Always(true, "x") }) {
		t.Fatal("a true condition panicked")
	}
	if !panics(func() { Always(false, "x") }) {
		t.Fatal("Always(false) did not panic")
	}
	var n Tally
	if n.Expect(false) || !n.Expect(true) || n.Count() != 1 {
		t.Fatal("tally wrong")
	}
}
