package regex

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"weir/internal/base/budget"
)

// TestCatastrophic gives patterns that explode in naive matchers texts that set them off.
func TestCatastrophic(t *testing.T) {
	long := strings.Repeat("a", 8192)
	for _, c := range []struct{ pattern, text string }{
		{`(a+)+$`, long + "b"}, {`^(a+)+$`, long + "b"}, {`(a|aa)+$`, long + "b"}, {`^(?:a|aa)+$`, long + "b"}, {`(.*)*x`, long}, {`^(.*)*x`, long},
		{`(a*)*b`, long}, {`(a|a)*b`, long}, {`(a?){30}a{30}`, strings.Repeat("a", 29)}, {`(.*)(.*)(.*)(.*)(.*)(.*)x`, long}, {`(x+x+)+y`, strings.Repeat("x", 8192)},
		{`^(([a-z])+.)+[A-Z]([a-z])+$`, long}, {`([a-zA-Z]+)*!`, long}, {`\s+$`, strings.Repeat(" ", 8192) + "x"}, {`^\s+|\s+$`, "x" + strings.Repeat(" ", 8192) + "x"},
		{`<!--.*?-->`, strings.Repeat("<!--", 4096)}, {`(?:[a-z0-9]+\.)+com`, strings.Repeat("a.", 4096)}, {`a.*b.*c.*d.*e$`, strings.Repeat("abcd", 2048)},
	} {
		r := compiled(t, c.pattern, 0)
		if ok, err := r.MatchBudget([]byte(c.text), 1); ok || err != nil {
			t.Errorf("%q: %v %v, want no match", c.pattern, ok, err)
		}
		if loc, err := r.FindSubmatchIndex(nil, []byte(c.text), 0); loc != nil || err != nil {
			t.Errorf("%q: %v %v, want no match", c.pattern, loc, err)
		}
	}
}

// stock is a budget of n steps.
func stock(n int) *budget.Steps {
	s := new(budget.Steps)
	s.Take(budget.Full - n)
	return s
}

// TestShares: matches share a stock. Each one that cannot be finished is noted, and the stock never allows more.
func TestShares(t *testing.T) {
	text := []byte(strings.Repeat("a", 40) + "b")
	hard, easy, linear := compiled(t, `(?:(a+)+)\1c`, 0), compiled(t, `(a)\1b`, 0), compiled(t, `a+b`, 0)
	s := stock(10_000)
	if !easy.MatchWithin(text, s) || s.Spent() || s.Left() >= 10_000 {
		t.Errorf("easy: spent %v, left %d", s.Spent(), s.Left())
	}
	if hard.MatchWithin(text, s) || !s.Spent() || s.Left() != 0 {
		t.Errorf("hard: spent %v, left %d", s.Spent(), s.Left())
	}
	if !linear.MatchWithin(text, s) {
		t.Error("what is linear needs no steps")
	}
	if loc, err := easy.FindWithin(nil, text, 0, s); loc != nil || !errors.Is(err, ErrBudget) {
		t.Errorf("nothing is left: %v, %v", loc, err)
	}
	if _, err := easy.Replace(nil, "x", text, true, 100, s); !errors.Is(err, ErrBudget) {
		t.Errorf("nothing is left: %v", err)
	}
	if s.Refill(); s.Spent() || s.Left() != budget.Full {
		t.Error("not refilled")
	}
	if _, err := easy.Replace(nil, "x", text, true, 100, s); err != nil || s.Left() == budget.Full {
		t.Errorf("refilled: %v, left %d", err, s.Left())
	}
}

// TestAside: a match that takes long is made elsewhere, unless the stock says that this is not possible now; after many
// that took their share in place less is allowed there.
func TestAside(t *testing.T) {
	text := []byte(strings.Repeat("a", 17) + "b")
	hard, easy := compiled(t, `(?:(a+)+)\1c`, 0), compiled(t, `(a)\1b`, 0)
	if hard.MatchBudget(text, budget.Long); hard.Cost(len(text)) < budget.Long {
		t.Fatal("the pattern is too cheap for this test")
	}
	away, busy := 0, false
	s := new(budget.Steps)
	s.SetAside(func(fn func()) bool {
		if !busy {
			away++
			fn()
		}
		return !busy
	})
	if !easy.MatchWithin(text, s) || away != 0 {
		t.Error("an easy match left")
	}
	if hard.MatchWithin(text, s) || s.Spent() || away != 1 || s.Left() > budget.Full-2*budget.Long {
		t.Errorf("a hard match: spent %v, away %d, left %d", s.Spent(), away, s.Left())
	}
	for range 10 {
		hard.MatchWithin(text, s)
	}
	if s.Here() != budget.Short || away != 11 {
		t.Errorf("%d steps in place, away %d", s.Here(), away)
	}
	if busy = true; hard.MatchWithin(text, s) || !s.Spent() {
		t.Error("nobody could make the match, but it was decided")
	}
	if s.Refill(); s.Here() != budget.Long {
		t.Error("refilled, but aside is forgotten")
	}
}

// TestRemembers asks for matches whose search explodes, unless states that were in vain are remembered.
func TestRemembers(t *testing.T) {
	long := strings.Repeat("a", 4096)
	for _, c := range []struct{ pattern, text, want string }{
		{`^(?:a|aa)+$|^(a*)b`, long + "b", "M 0 4097 0 4096"}, {`(a+)+c|b`, long + "b", "M 4096 4097 -1 -1"}, {`(?:a+)+(?!a)b`, long + "b", "M 0 4097"},
		{`(?:a|a)*(?=c)`, long, "N"}, {`(?:a+)+(?<=b)c`, long, "N"}, {`([^x]*)x|(a)$`, long, "M 4095 4096 -1 -1 4095 4096"}, {`(?=a)(?:a|aa)+?$(?<=b)`, long, "N"},
		{`(?:a|aa)+\Kb|(?=a)a*?(?:a|aa)+c`, long, "N"},
	} {
		r := compiled(t, c.pattern, 0)
		got := answer(r.search(nil, []byte(c.text), 0, false, stock(400_000)))
		if got != c.want {
			t.Errorf("%q: %s, want %s", c.pattern, got, c.want)
		}
	}
}

// TestBudget looks at what no memory helps with: the limit is met, always at the same step.
func TestBudget(t *testing.T) {
	text := []byte(strings.Repeat("a", 40) + "b")
	for _, pattern := range []string{`^(a+)+\1$`, `^(?:(a|aa)+\1)+$`, `(?:(a)|b|aa)*(?(1)c)`, `^(?>(?:a+)+(?=c))`, `^(?:(a|aa)(?1)?)+(?<=x)`} {
		r := compiled(t, pattern, 0)
		if ok, err := r.MatchBudget(text, 20_000); ok || !errors.Is(err, ErrBudget) {
			t.Errorf("%q: %v %v, want the limit", pattern, ok, err)
		}
		if !r.Heavy(len(text)) || !r.MatchHeavy(len(text)) {
			t.Errorf("%q is not heavy", pattern)
		}
		m := newMachine(r.prog)
		least := 20_000
		for lo, hi := 1, least; lo < hi; { // the step at which a search of 200 bytes less fails
			mid := (lo + hi) / 2
			if m.find(text[:12], 0, false, mid); m.err != nil {
				lo = mid + 1
			} else {
				hi = mid
			}
			least = lo
		}
		if m.find(text[:12], 0, false, least-1); m.err == nil && least > 1 {
			t.Errorf("%q: the number of steps changes", pattern)
		}
	}
	if _, err := compiled(t, `(?R)`, 0).MatchBudget(text, 1000); !errors.Is(err, ErrLoop) {
		t.Errorf("endless recursion: %v", err)
	}
	if ok, err := compiled(t, `(*LIMIT_MATCH=10)(?:(a+)+)\1c`, 0).MatchBudget(text, DefaultSteps); ok || !errors.Is(err, ErrBudget) {
		t.Errorf("a limit in the pattern: %v %v", ok, err)
	}
}

// TestMemory bounds what deep searches take.
func TestMemory(t *testing.T) {
	text := []byte(strings.Repeat("ab", 1<<19))
	r := compiled(t, `^(?:(ab)(?=a|$))*+\1?$`, 0)
	if _, err := r.MatchBudget(text, DefaultSteps); !errors.Is(err, ErrBudget) {
		t.Errorf("a stack without limit: %v", err)
	}
	deep := compiled(t, `^((?:a(?1)b)?)$`, 0)
	if _, err := deep.MatchBudget([]byte(strings.Repeat("a", 1<<20)), DefaultSteps); !errors.Is(err, ErrBudget) {
		t.Errorf("recursion without limit: %v", err)
	}
	if !deep.Match([]byte(strings.Repeat("a", 50_000) + strings.Repeat("b", 50_000))) {
		t.Error("deep recursion does not match")
	}
}

// TestLongText looks at texts of a megabyte.
func TestLongText(t *testing.T) {
	text := []byte(strings.Repeat("x-header: value, ", 1<<16) + "end")
	for pattern, want := range map[string]bool{
		`(?i)(bot|crawl|spider)`: false, `^(.*), end$`: true, `(\w+): (\w+), end`: true, `(?=.*end$)x`: true, `[^,]*$`: true, `(.*)(.*)z`: false,
	} {
		r := compiled(t, pattern, 0)
		if got := r.Match(text); got != want {
			t.Errorf("%q: %v", pattern, got)
		}
		loc, err := r.FindSubmatchIndex(nil, text, 0)
		if (loc != nil) != want || err != nil {
			t.Errorf("%q: %v %v", pattern, loc, err)
		}
	}
}

// TestFullTable makes machines of more states than their table may hold.
func TestFullTable(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	r := compiled(t, `^(?:a|b|c)*a[abc]{20}$`, 0)
	for range 200 {
		b := make([]byte, 400)
		for i := range b {
			b[i] = "abc"[rnd.IntN(3)]
		}
		if got, want := r.Match(b), b[len(b)-21] == 'a'; got != want {
			t.Fatalf("%s: %v", b, got)
		}
	}
	if r.dfa.fulls.Load() == 0 {
		t.Error("the table was never full")
	}
	for i := range maxCells/int(r.dfa.stride) + 2 {
		if r.dfa.cur.Load() == nil || len(r.dfa.cur.Load().sets)*int(r.dfa.stride) > maxCells+int(r.dfa.stride) {
			t.Fatalf("the table has %d rows", i)
		}
	}
}

// TestManyWords takes lists of words for what they are: one automaton.
func TestManyWords(t *testing.T) {
	var words []string
	for i := range 5000 {
		words = append(words, fmt.Sprintf("w%d-x%d", i*7919%100_003, i))
	}
	r := compiled(t, strings.Join(words, "|"), IgnoreCase)
	for i, w := range words {
		if i%97 == 0 && (!r.Match([]byte("<"+strings.ToUpper(w)+">")) || r.Match([]byte(w[:len(w)-1]+"?"+w[1:]))) {
			t.Errorf("%s is not found, or what it is not", w)
		}
	}
	if r.Engine() != "literal" {
		t.Errorf("the engine is %s", r.Engine())
	}
}

// pieces of random patterns.
var (
	regularAtoms = []string{"a", "b", "ab", "[ab]", "[^a]", ".", `\w`, `\d`, `\s`, "A", "1", `\n`, "(?i:a)", "(?s:.)", `[[:alpha:]]`, "c", "bc", `\xff`, `[\x80-\xff]`}
	assertions   = []string{"^", "$", `\b`, `\B`, `\A`, `\z`, `\Z`, "(?m:^)", "(?m:$)"}
	quantifiers  = []string{"*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,2}?", "{2,}"}
	otherAtoms   = []string{"(?=a)", "(?!b)", "(?<=a)", "(?<!ab|b)", "(?>a|ab)", "(?>a+)", "a++", "b*+", "(?=(?:a|b)+c)", `(?>[ab]*b)`, `\K`, `\R`}
)

// randomPattern makes a pattern; other adds what is not regular.
func randomPattern(r *rand.Rand, depth int, other bool) string {
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	var b strings.Builder
	for i := range 1 + r.IntN(3) {
		if i > 0 {
			b.WriteByte('|')
		}
		for range r.IntN(4) {
			atom := pick(regularAtoms)
			switch k := r.IntN(10); {
			case depth > 0 && k < 4:
				atom = [2]string{"(", "(?:"}[k&1] + randomPattern(r, depth-1, other) + ")"
			case k == 4:
				b.WriteString(pick(assertions))
				continue
			case other && k < 7:
				b.WriteString(pick(otherAtoms))
				continue
			}
			b.WriteString(atom)
			if r.IntN(3) == 0 {
				b.WriteString(pick(quantifiers))
			}
		}
	}
	return b.String()
}

func randomText(r *rand.Rand) []byte {
	b := make([]byte, r.IntN(24))
	for i := range b {
		b[i] = "aaabbbcA1 \n\xff"[r.IntN(12)]
	}
	return b
}

// TestEnginesAgree compares the linear engines with the backtracking one, and that with and without its memory.
func TestEnginesAgree(t *testing.T) {
	const seed = 20
	rnd := rand.New(rand.NewPCG(seed, seed))
	for i := range 4000 {
		pattern := randomPattern(rnd, 2, i&1 == 0)
		r, err := Compile(pattern, Flags(rnd.IntN(2)))
		if err != nil {
			t.Fatalf("seed %d: %q: %v", seed, pattern, err)
		}
		plain := *r.prog
		plain.memo = false // of states and of stretches
		for range 6 {
			text := randomText(rnd)
			m := newMachine(&plain)
			want := "N"
			if m.find(text, 0, false, 1_000_000) {
				want = answer(m.regs[:2*(r.Groups()+1)], nil)
			}
			if m.err != nil {
				continue
			}
			r.prog.patience = 0
			if got := answer(r.FindSubmatchIndex(nil, text, 0)); got != want {
				t.Errorf("seed %d: %q on %q: %s, without memory %s", seed, pattern, text, got, want)
			}
			if got := r.Match(text); got != (want != "N") {
				t.Errorf("seed %d: %q on %q: %s says %v, want %s", seed, pattern, text, r.Engine(), got, want)
			}
		}
	}
}

// FuzzRegex compiles and matches anything: no panic, no more steps than allowed, and engines that agree.
func FuzzRegex(f *testing.F) {
	for _, c := range benches {
		f.Add(c.pattern, c.text, uint8(0))
	}
	for _, p := range []string{`(a)(?1)\1(?(1)b|c)`, `(?<n>a){2,3}+(?=b\n?)(?<!c)\Q*\E`, `(?|(a)|(?:b))\g{-1}`, `(?>(*COMMIT)a|b(*ACCEPT))`, `(?(R)a|b(?R)?)`, `[^[:alpha:]\d-]+?$`} {
		f.Add(p, "aaab\n", uint8(1))
	}
	f.Fuzz(func(t *testing.T, pattern, text string, flags uint8) {
		if len(pattern) > 200 || len(text) > 2000 {
			return
		}
		r, err := Compile(pattern, Flags(flags&3))
		if err != nil {
			return
		}
		if flags&4 != 0 {
			r.prog.patience = 0
		}
		const steps = 50_000
		ok, err := r.MatchBudget([]byte(text), steps)
		loc, err2 := r.search(nil, []byte(text), 0, false, stock(steps))
		if err == nil && err2 == nil && ok != (loc != nil) {
			t.Errorf("%q on %q: %s says %v, captures %v", pattern, text, r.Engine(), ok, loc)
		}
		if loc != nil {
			for g := 0; g < len(loc); g += 2 {
				if a, b := loc[g], loc[g+1]; (a < 0) != (b < 0) || a > b && g > 0 || b > len(text) {
					t.Errorf("%q on %q: group %d is %d to %d", pattern, text, g/2, a, b)
				}
			}
			Expand(nil, `\0\1\9`, []byte(text), loc)
		}
	})
}
