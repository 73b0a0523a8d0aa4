package sample

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"weir/internal/base/units"
	"weir/internal/model"
)

// Kind is the type of an argument.
type Kind uint8

// Kinds of arguments, by the words of the reference's keyword dump.
const (
	KindString   Kind = iota + 1 // "string"
	KindInt                      // "integer"
	KindTime                     // "delay": Int in milliseconds
	KindSize                     // "size"
	KindFrontend                 // "frontend": Ref
	KindBackend                  // "backend": Ref
	KindServer                   // "server": Server
	KindTable                    // "table": Str
	KindUserlist                 // "user list": Str
	KindRegex                    // "regex": Str
	KindMask4                    // "IPv4 mask": Addr
	KindMask6                    // "IPv6 mask": Addr
	KindAddr4                    // "IPv4 address": Addr
	KindAddr6                    // "IPv6 address": Addr
	KindField                    // "Protocol buffers field number": Str ("1.2.3"), checked
)

var kindNames = map[string]Kind{
	"string": KindString, "integer": KindInt, "delay": KindTime, "size": KindSize, "frontend": KindFrontend,
	"backend": KindBackend, "server": KindServer, "table": KindTable, "user list": KindUserlist, "regex": KindRegex,
	"IPv4 mask": KindMask4, "IPv6 mask": KindMask6, "IPv4 address": KindAddr4, "IPv6 address": KindAddr6,
	"Protocol buffers field number": KindField,
}

// Arg is one argument of a fetch or a converter.
type Arg struct {
	Kind   Kind
	Str    string // the text, quotes and escapes resolved; for every kind
	Int    int64
	Addr   netip.Addr
	Ref    *model.Proxy  // set by the check stage
	Server *model.Server // set by the check stage
	Data   any           // what the keyword's Check has prepared
}

type signature struct {
	kinds    []Kind
	required int
}

// mustSignature reads "string[,integer[,string]]"; a wrong one is a programming error found in init.
func mustSignature(name, text string) (s signature) {
	optional := false
	for part := range strings.SplitSeq(text, ",") {
		if strings.HasPrefix(part, "[") {
			optional = true
		}
		word := strings.Trim(part, "[]")
		if word == "" {
			continue
		}
		k, ok := kindNames[word]
		if !ok {
			panic(fmt.Sprintf("arguments of %s: unknown kind %q", name, word))
		}
		s.kinds = append(s.kinds, k)
		if !optional {
			s.required++
		}
		if strings.HasSuffix(part, "[") { // what follows "string[" may be left out
			optional = true
		}
	}
	return s
}

// ArgCheck is what the Check function of a keyword may use.
type ArgCheck struct {
	Scope   *Scope
	Keyword string // the fetch or converter with its name
}

// parse reads the text between the parentheses. Empty ones hold one empty argument; none at all (given is false) stand for
// it where an argument must be. All errors name the argument.
func (s *signature) parse(sc *Scope, what, text string, given bool) ([]Arg, error) {
	words, err := splitArgs(text)
	if err != nil {
		return nil, err
	}
	if len(words) == 1 && words[0] == "" && (len(s.kinds) == 0 || !given && s.required == 0) {
		words = nil
	}
	if len(words) > len(s.kinds) {
		if len(s.kinds) == 0 {
			return nil, fmt.Errorf("%s takes no argument", what)
		}
		return nil, fmt.Errorf("%s takes at most %d arguments, %d are given", what, len(s.kinds), len(words))
	}
	if len(words) < s.required {
		return nil, fmt.Errorf("%s needs %d arguments, %d are given", what, s.required, len(words))
	}
	args := make([]Arg, 0, len(s.kinds))
	for i, w := range words {
		args = append(args, Arg{Kind: s.kinds[i], Str: w}) // in its place at once: the check stage fills it in
		if err := args[i].parse(sc, i < s.required); err != nil {
			return nil, fmt.Errorf("argument %d of %s: %w", i+1, what, err)
		}
	}
	// Objects that may be left out stand for the section itself.
	for i := len(words); i < len(s.kinds); i++ {
		if k := s.kinds[i]; k == KindFrontend || k == KindBackend || k == KindTable {
			args = append(args, Arg{Kind: k})
			if err := args[i].parse(sc, false); err != nil {
				return nil, fmt.Errorf("argument %d of %s: %w", i+1, what, err)
			}
			continue
		}
		break
	}
	return args, nil
}

func (a *Arg) parse(sc *Scope, required bool) error {
	if a.Str == "" && !required && a.Kind == KindInt {
		return nil
	}
	switch a.Kind {
	case KindInt:
		n, err := strconv.ParseInt(a.Str, 10, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) { // out of range: the nearest one
			return fmt.Errorf("'%s' is not an integer", a.Str)
		}
		a.Int = n
	case KindTime:
		d, err := units.Duration(a.Str, units.Millisecond)
		if err != nil {
			return err
		}
		a.Int = d.Milliseconds()
	case KindSize:
		n, err := units.Size(a.Str)
		if err != nil {
			return err
		}
		a.Int = n
	case KindMask4, KindMask6:
		return a.parseMask()
	case KindAddr4, KindAddr6:
		ip, err := netip.ParseAddr(a.Str)
		if err != nil || ip.Is4() != (a.Kind == KindAddr4) {
			return fmt.Errorf("'%s' is not such an address", a.Str)
		}
		a.Addr = ip
	case KindField:
		return a.parseField()
	case KindFrontend, KindBackend, KindServer:
		return sc.resolve(a)
	}
	return nil
}

// parseMask reads a netmask: a number of bits or dotted, and keeps it as an address.
func (a *Arg) parseMask() error {
	size := 32
	if a.Kind == KindMask6 {
		size = 128
	}
	if n, err := strconv.Atoi(a.Str); err == nil && n >= 0 && n <= size {
		ones := netip.AddrFrom4([4]byte{255, 255, 255, 255})
		if size == 128 {
			var all [16]byte
			for i := range all {
				all[i] = 255
			}
			ones = netip.AddrFrom16(all)
		}
		p, _ := ones.Prefix(n)
		a.Addr = p.Addr()
		return nil
	}
	ip, err := netip.ParseAddr(a.Str)
	if err != nil || ip.Is4() != (size == 32) {
		return fmt.Errorf("'%s' is neither a netmask nor a number of bits from 0 to %d", a.Str, size)
	}
	a.Addr = ip
	return nil
}

// parseField checks a dotted list of field numbers.
func (a *Arg) parseField() error {
	for part := range strings.SplitSeq(a.Str, ".") {
		if n, err := strconv.ParseUint(part, 10, 32); err != nil || n == 0 || n > 1<<29-1 {
			return fmt.Errorf("'%s' is no list of field numbers such as 1.2", a.Str)
		}
	}
	return nil
}

// splitArgs cuts arguments at commas; quotes and backslashes protect (manual 2.2).
func splitArgs(s string) ([]string, error) {
	var (
		words []string
		w     []byte
	)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ',':
			words, w = append(words, string(w)), w[:0]
		case '\\':
			if i+1 < len(s) && s[i+1] != ',' {
				i++
				w = append(w, escaped(s[i])...)
			} else {
				w = append(w, c)
			}
		case '\'':
			j := strings.IndexByte(s[i+1:], '\'')
			if j < 0 {
				return nil, fmt.Errorf("a single quote is not closed in '%s'", s)
			}
			w = append(w, s[i+1:i+1+j]...)
			i += j + 1
		case '"':
			i++
			for ; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' && i+1 < len(s) {
					i++
					w = append(w, escaped(s[i])...)
					continue
				}
				w = append(w, s[i])
			}
			if i >= len(s) {
				return nil, fmt.Errorf("a double quote is not closed in '%s'", s)
			}
		default:
			w = append(w, c)
		}
	}
	return append(words, string(w)), nil
}

// escaped is what a backslash and c mean outside of single quotes.
func escaped(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 'r':
		return "\r"
	case 't':
		return "\t"
	case ' ', '\\', '\'', '"':
		return string(c)
	}
	return "\\" + string(c)
}

// argsEnd finds the parenthesis that closes the one at s[0]; -1 when there is none.
func argsEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i+1 < len(s) && s[i+1] != ')' {
				i++
			}
		case '\'':
			j := strings.IndexByte(s[i+1:], '\'')
			if j < 0 {
				return -1
			}
			i += j + 1
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		case ')':
			return i
		}
	}
	return -1
}
