package differential

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Types of values, as the converters name them.
const (
	str  = "str"
	bin  = "bin"
	sint = "sint"
	addr = "addr"
	boo  = "bool"
	any  = "any"
)

// item is a fetch or a converter with its type and forms of its arguments, each a list of alternatives.
type item struct {
	name string
	in   string
	out  string
	args [][]string // alternatives by position; nil: no parentheses
	min  int        // arguments that must be there
}

var (
	texts   = []string{"", "a", "abc", "ABC", "a b", "foo=bar", "x,y,z", "a.b.c", "www.Example.COM", "/a/b/c", "10", "-5", "007", "1.5", "1.2.3.4", "::1", "%41%zz%", "a=1&b=2", `{"a":1}`, "caf\xc3\xa9", "gzip;q=0.5,br", "host:80", "[::1]:80", "x;y;z", "true", "  pad  ", "aaa"}
	numbers = []string{"0", "1", "-1", "2", "7", "10", "255", "256", "65535", "1000000", "-1000000", "4294967295", "9223372036854775807", "-9223372036854775808", "1704067200"}
	hexes   = []string{"", "00", "41", "414243", "610062", "ff", "0102030405060708", "ffffffffffffffff", "6162633d646566"}
	seps    = []string{".", "/", " ", "=", "&", ";", ":", "a", "\",\"", "bc"}
	small   = []string{"0", "1", "2", "3", "-1", "-2", "5", "100"}
	chars   = []string{"a", "abc", " ", "/", ".", "-", "0"}
)

var fetches = []item{
	{name: "str", out: str, args: [][]string{texts}, min: 1}, {name: "str", out: str, args: [][]string{texts}, min: 1},
	{name: "str", out: str, args: [][]string{texts}, min: 1}, {name: "int", out: sint, args: [][]string{numbers}, min: 1},
	{name: "int", out: sint, args: [][]string{numbers}, min: 1}, {name: "bin", out: bin, args: [][]string{hexes}, min: 1},
	{name: "bool", out: boo, args: [][]string{{"true", "false", "1", "0"}}, min: 1},
	{name: "ipv4", out: "ipv4", args: [][]string{{"1.2.3.4", "10.0.0.1", "255.255.255.255", "0.0.0.0"}}, min: 1},
	{name: "ipv6", out: "ipv6", args: [][]string{{"::1", "2001:db8::1", "fe80::1:2:3", "::ffff:1.2.3.4", "2002:102:304::"}}, min: 1},
	{name: "method", out: "meth"}, {name: "path", out: str}, {name: "url", out: str}, {name: "query", out: str}, {name: "base", out: str}, {name: "pathq", out: str},
	{name: "baseq", out: str}, {name: "req.ver", out: str}, {name: "src", out: addr}, {name: "base32", out: sint}, {name: "url32", out: sint},
	{name: "url_param", out: str, args: [][]string{{"a", "b", "c", "empty", "none", "A"}}, min: 1},
	{name: "req.hdr", out: str, args: [][]string{{"x-list", "x-one", "host", "x-none", "x-empty", "X-LIST"}, {"1", "2", "-1", "-2", "9"}}, min: 1},
	{name: "req.fhdr", out: str, args: [][]string{{"x-list", "x-one", "x-none", "x-empty"}, {"1", "2", "-1"}}, min: 1},
	{name: "req.hdr_cnt", out: sint, args: [][]string{{"x-list", "x-one", "x-none", "x-empty"}}, min: 1},
	{name: "req.fhdr_cnt", out: sint, args: [][]string{{"x-list", "x-one", "x-none"}}, min: 1},
	{name: "req.hdr_val", out: sint, args: [][]string{{"x-num", "x-one", "x-list"}}, min: 1},
	{name: "req.hdr_ip", out: addr, args: [][]string{{"x-ip", "x-one", "x-none"}}, min: 1},
	{name: "req.cook", out: str, args: [][]string{{"a", "b", "q", "none"}}, min: 1},
	{name: "req.cook_cnt", out: sint, args: [][]string{{"a", "b", "none"}}, min: 1},
	{name: "req.cook_val", out: sint, args: [][]string{{"b", "a"}}, min: 1},
	{name: "var", out: any, args: [][]string{{"txn.n", "txn.s", "txn.none"}}, min: 1},
	{name: "req.hdr_names", out: str, args: [][]string{{",", ";"}}, min: 1},
}

var converters = []item{
	{name: "add", in: sint, out: sint, args: [][]string{append(numbers[:12:12], "txn.n", "txn.none")}, min: 1},
	{name: "sub", in: sint, out: sint, args: [][]string{append(numbers[:12:12], "txn.n")}, min: 1},
	{name: "mul", in: sint, out: sint, args: [][]string{numbers}, min: 1}, {name: "div", in: sint, out: sint, args: [][]string{numbers}, min: 1},
	{name: "mod", in: sint, out: sint, args: [][]string{numbers}, min: 1}, {name: "and", in: sint, out: sint, args: [][]string{numbers}, min: 1},
	{name: "or", in: sint, out: sint, args: [][]string{numbers}, min: 1}, {name: "xor", in: sint, out: sint, args: [][]string{numbers}, min: 1},
	{name: "cpl", in: sint, out: sint}, {name: "neg", in: sint, out: sint}, {name: "even", in: sint, out: boo}, {name: "odd", in: sint, out: boo},
	{name: "not", in: sint, out: boo}, {name: "bool", in: sint, out: boo},
	{name: "lower", in: str, out: str}, {name: "upper", in: str, out: str}, {name: "length", in: str, out: sint}, {name: "hex", in: bin, out: str},
	{name: "base64", in: bin, out: str}, {name: "b64dec", in: str, out: bin}, {name: "ub64enc", in: bin, out: str}, {name: "ub64dec", in: str, out: str},
	{name: "hex2i", in: str, out: sint}, {name: "bytes", in: bin, out: bin, args: [][]string{{"0", "1", "2", "5", "100"}, {"0", "1", "3", "100"}}, min: 1},
	{name: "field", in: str, out: str, args: [][]string{small, seps, {"0", "1", "2", "-1"}}, min: 2},
	{name: "word", in: str, out: str, args: [][]string{small, seps, {"0", "1", "2", "-1"}}, min: 2},
	{name: "ltrim", in: str, out: str, args: [][]string{chars}, min: 1}, {name: "rtrim", in: str, out: str, args: [][]string{chars}, min: 1},
	{name: "concat", in: str, out: str, args: [][]string{{"x", "", "<"}, {"txn.n", "txn.s", "txn.none"}, {"y", ">"}}, min: 1},
	{name: "strcmp", in: str, out: sint, args: [][]string{{"txn.s", "txn.n", "txn.none"}}, min: 1},
	{name: "iif", in: boo, out: str, args: [][]string{{"yes", ""}, {"no", ""}}, min: 2},
	{name: "cut_crlf", in: str, out: str}, {name: "url_dec", in: str, out: str, args: [][]string{{"0", "1"}}}, {name: "url_enc", in: str, out: str, args: [][]string{{"query"}}},
	{name: "json", in: str, out: str, args: [][]string{{"ascii", "utf8", "utf8s", "utf8p", "utf8ps"}}},
	{name: "json_query", in: str, out: any, args: [][]string{{"$.a", "$.b", "$"}, {"int"}}, min: 1},
	{name: "language", in: str, out: str, args: [][]string{{"fr;en", "br;gzip"}, {"none"}}, min: 1},
	{name: "regsub", in: str, out: str, args: [][]string{{"a", "[abc]", "b+", "^.", `\"(a)(b)?\"`}, {"X", "", "<\\1>"}, {"g", "i", "gi"}}, min: 2},
	{name: "host_only", in: str, out: str}, {name: "port_only", in: str, out: sint}, {name: "ipmask", in: addr, out: addr, args: [][]string{{"24", "8", "32", "0", "255.255.0.0"}, {"64", "128", "1"}}, min: 1},
	{name: "crc32", in: bin, out: sint, args: [][]string{{"0", "1"}}}, {name: "crc32c", in: bin, out: sint, args: [][]string{{"0", "1"}}},
	{name: "djb2", in: bin, out: sint, args: [][]string{{"0", "1"}}}, {name: "sdbm", in: bin, out: sint, args: [][]string{{"0", "1"}}},
	{name: "wt6", in: bin, out: sint, args: [][]string{{"0", "1"}}}, {name: "xxh32", in: bin, out: sint, args: [][]string{{"0", "7"}}},
	{name: "xxh64", in: bin, out: sint, args: [][]string{{"0", "7"}}}, {name: "xxh3", in: bin, out: sint, args: [][]string{{"0", "7"}}},
	{name: "sha1", in: bin, out: bin}, {name: "sha2", in: bin, out: bin, args: [][]string{{"224", "256", "384", "512"}}},
	{name: "digest", in: bin, out: bin, args: [][]string{{"md5", "sha256", "sha1"}}, min: 1}, {name: "hmac", in: bin, out: bin, args: [][]string{{"sha256", "sha1"}, {"a2V5", "txn.s"}}, min: 2},
	{name: "http_date", in: sint, out: str, args: [][]string{{"0", "10", "-10"}, {"s", "ms", "us"}}}, {name: "utime", in: sint, out: str, args: [][]string{{"%Y-%m-%d %H:%M:%S", "%d"}, {"0", "3600"}}, min: 1},
	{name: "ltime", in: sint, out: str, args: [][]string{{"%Y%m%d", "%H"}}, min: 1}, {name: "htonl", in: sint, out: bin},
	{name: "be2dec", in: bin, out: str, args: [][]string{{".", ":"}, {"1", "2", "4"}, {"0", "1"}}, min: 2}, {name: "be2hex", in: bin, out: str, args: [][]string{{".", "", "-"}, {"1", "2"}, {"1"}}, min: 1},
	{name: "protobuf", in: bin, out: bin, args: [][]string{{"1", "2", "1.1"}, {"int32", "string", "bool"}}, min: 1}, {name: "ungrpc", in: bin, out: bin, args: [][]string{{"1"}, {"int32"}}, min: 1},
	{name: "rfc7239_is_valid", in: str, out: boo}, {name: "rfc7239_field", in: str, out: str, args: [][]string{{"for", "host", "proto"}}, min: 1},
	{name: "param", in: str, out: str, args: [][]string{{"a", "b", "x"}, {"&", ";"}}, min: 1}, {name: "has_ctl", in: bin, out: boo},
	{name: "add_item", in: str, out: str, args: [][]string{{"\",\"", ";"}, {"txn.n", "txn.s", "txn.none"}, {"z"}}, min: 2},
	{name: "set-var", in: any, out: any, args: [][]string{{"txn.tmp", "req.tmp"}}, min: 1}, {name: "fix_is_valid", in: bin, out: boo}, {name: "mqtt_is_valid", in: bin, out: boo},
	{name: "nbsrv", in: str, out: sint}, {name: "reverse", in: str, out: str}, {name: "base2", in: bin, out: str},
}

// casts tells which type a converter of some input type may follow, so that most expressions are valid.
var casts = map[string]string{
	str: " str bin sint addr bool any ", bin: " str bin any ", sint: " str bin sint bool addr any ", boo: " bool sint str bin any ",
	addr: " addr str bin any ", "ipv4": " addr sint str bin any ", "ipv6": " addr str bin any ", "meth": " str bin any ", any: " str bin sint addr bool any ",
}

// Generate makes n expressions from a seed, of fetches and converters that known accepts.
func Generate(seed uint64, n int, known func(name string) bool) []string {
	fetches := slices.DeleteFunc(slices.Clone(fetches), func(t item) bool { return !known(t.name) })
	converters := slices.DeleteFunc(slices.Clone(converters), func(t item) bool { return !known(t.name) })
	r := rand.New(rand.NewPCG(seed, 1))
	seen := make(map[string]bool)
	var list []string
	for len(list) < n {
		f := fetches[r.IntN(len(fetches))]
		e, out := f.call(r), f.out
		for range r.IntN(4) {
			c := converters[r.IntN(len(converters))]
			if !strings.Contains(casts[out], " "+c.in+" ") && r.IntN(20) > 0 {
				continue
			}
			e += "," + c.call(r)
			if c.name != "set-var" {
				out = c.out
			}
		}
		if f := "%[" + e + "]"; !seen[f] {
			seen[f] = true
			list = append(list, f)
		}
	}
	return list
}

// call writes the item with some of its arguments.
func (t *item) call(r *rand.Rand) string {
	if t.args == nil {
		return t.name
	}
	n := t.min + r.IntN(len(t.args)-t.min+1)
	if n == 0 {
		return t.name
	}
	var a []string
	for _, alternatives := range t.args[:n] {
		v := alternatives[r.IntN(len(alternatives))]
		if strings.ContainsAny(v, ",() ") && !strings.HasPrefix(v, `"`) {
			v = `"` + v + `"`
		}
		a = append(a, v)
	}
	return fmt.Sprintf("%s(%s)", t.name, strings.Join(a, ","))
}

// aliases are those whose value does not depend on time, ports or process.
var aliases = []string{"ci", "f", "ft", "b", "s", "HM", "HP", "HPO", "HQ", "HU", "HV", "ST", "r", "rc", "bc", "sc", "sq", "bq", "CC", "CS", "hr", "hrl", "hs", "hsl", "tsc", "fi", "ID", "B"}

// Formats makes n log formats from a seed.
func Formats(seed uint64, n int, known func(name string) bool) []string {
	r := rand.New(rand.NewPCG(seed, 2))
	exprs := Generate(seed+1, n, known)
	var list []string
	for i := range n {
		var b strings.Builder
		for range 1 + r.IntN(3) {
			switch r.IntN(4) {
			case 0:
				b.WriteString([]string{"text", " ", "%%", "-", "a b", "[x]"}[r.IntN(6)])
			case 1:
				flags := []string{"", "{+Q}", "{+X}", "{+E}", "{-Q}", "{+Q,+X}"}[r.IntN(6)]
				fmt.Fprintf(&b, "%%%s%s", flags, aliases[r.IntN(len(aliases))])
			default:
				e := exprs[(i+r.IntN(n))%n]
				if r.IntN(3) == 0 {
					e = "%{+Q}" + e[1:]
				}
				b.WriteString(e)
			}
		}
		list = append(list, b.String())
	}
	return list
}
