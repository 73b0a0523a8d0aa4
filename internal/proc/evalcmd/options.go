package evalcmd

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"weir/internal/base/ascii"
)

const usage = `Usage : weir eval [options] <expression>
        weir eval [options] --format <log format>

Evaluates a sample expression, such as 'req.hdr(host),lower', or a log format,
such as '%[path] %ci'. A text that begins with '%' is taken for a log format.

  -f <file>                    configuration whose names may be used; may be repeated
  --proxy <name>               section of it that the expression stands in
  --method <method>            method of the request (GET)
  --url <target>               target of the request (/)
  -H '<name>: <value>'         header field of the request; may be repeated
  --body <text>|@<file>        body of the request
  --src, --dst <ip>[:<port>]   the client's address, and the one it connected to
  --response <status>          there is a response, with this status
  --response-header, --response-body
                               its fields and its body, as above
  --var <name>=[<type>:]<value>
                               variable, such as txn.a=int:5; types are str (the
                               default), int, bool, ip, bin (hexadecimal) and meth
  --steps                      show the value after each step
  --raw                        print the value alone, as a log would
  --format                     the text is a log format, evaluated as rules do
  --log                        it is one, evaluated as log lines do: '-' for what
                               is absent, other characters escaped
  --help                       this text

The exit code is 0, 1 after an error, 2 when the expression has no value.
`

// errHelp asks for the usage text.
var errHelp = errors.New("help")

// options are what the words say.
type options struct {
	text              string
	files             []string
	proxy             string
	method, url       string
	fields, resFields [][2]string
	body, resBody     string
	src, dst          netip.AddrPort
	status            int // 0: no response
	vars              []variable
	steps, raw        bool
	format, log       bool
}

// variable is one --var.
type variable struct{ name, kind, value string }

// parser walks over the words.
type parser struct {
	o    *options
	rest []string
}

// parse reads the words after "weir eval".
func parse(words []string) (*options, error) {
	p := &parser{o: &options{method: "GET", url: "/"}, rest: words}
	given := false
	for len(p.rest) > 0 {
		w := p.rest[0]
		p.rest = p.rest[1:]
		if len(w) > 1 && w[0] == '-' && w != "--" {
			if err := p.option(w); err != nil {
				return nil, err
			}
			continue
		}
		if w == "--" && !given && len(p.rest) > 0 {
			w = p.rest[0]
			p.rest = p.rest[1:]
		}
		if given {
			return nil, fmt.Errorf("'%s' is one word too many: the expression is '%s' already (is it quoted?)", w, p.o.text)
		}
		p.o.text, given = w, true
	}
	if !given {
		return nil, errors.New("an expression is missing; see weir eval --help")
	}
	if strings.HasPrefix(p.o.text, "%") {
		p.o.format = true
	}
	if (len(p.o.resFields) > 0 || p.o.resBody != "") && p.o.status == 0 {
		return nil, errors.New("a response needs --response with its status")
	}
	if p.o.proxy != "" && len(p.o.files) == 0 {
		return nil, errors.New("--proxy names a section of a configuration, which -f must give")
	}
	return p.o, nil
}

// option reads one option and its value.
func (p *parser) option(w string) error {
	o := p.o
	switch w {
	case "--help", "-h":
		return errHelp
	case "--steps":
		o.steps = true
		return nil
	case "--raw":
		o.raw = true
		return nil
	case "--format":
		o.format = true
		return nil
	case "--log":
		o.format, o.log = true, true
		return nil
	}
	set, ok := valued[w]
	if !ok {
		return fmt.Errorf("unknown option '%s'; see weir eval --help", w)
	}
	if len(p.rest) == 0 {
		return fmt.Errorf("option %s needs a value after it", w)
	}
	v := p.rest[0]
	p.rest = p.rest[1:]
	if err := set(o, v); err != nil {
		return fmt.Errorf("option %s: %w", w, err)
	}
	return nil
}

// valued are the options that take a value.
var valued = map[string]func(o *options, v string) error{
	"-f":                func(o *options, v string) error { o.files = append(o.files, v); return nil },
	"--proxy":           func(o *options, v string) error { o.proxy = v; return nil },
	"--method":          setMethod,
	"--url":             setTarget,
	"-H":                func(o *options, v string) error { return addField(&o.fields, v) },
	"--header":          func(o *options, v string) error { return addField(&o.fields, v) },
	"--body":            func(o *options, v string) error { o.body = v; return nil },
	"--src":             func(o *options, v string) error { return setAddr(&o.src, v) },
	"--dst":             func(o *options, v string) error { return setAddr(&o.dst, v) },
	"--response":        setStatus,
	"--response-header": func(o *options, v string) error { return addField(&o.resFields, v) },
	"--response-body":   func(o *options, v string) error { o.resBody = v; return nil },
	"--var":             addVar,
}

func setMethod(o *options, v string) error {
	if !ascii.IsTokenBytes([]byte(v)) {
		return fmt.Errorf("'%s' is no method", v)
	}
	o.method = v
	return nil
}

func setTarget(o *options, v string) error {
	if v == "" || strings.ContainsAny(v, " \t\r\n\x00") {
		return fmt.Errorf("'%s' is no target of a request", v)
	}
	o.url = v
	return nil
}

func setStatus(o *options, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < 100 || n > 999 {
		return fmt.Errorf("'%s' is no status from 100 to 999", v)
	}
	o.status = n
	return nil
}

func addField(to *[][2]string, v string) error {
	name, value, ok := strings.Cut(v, ":")
	if !ok || !ascii.IsTokenBytes([]byte(name)) || strings.ContainsAny(value, "\r\n\x00") {
		return fmt.Errorf("'%s' is no header field of the form 'name: value'", v)
	}
	*to = append(*to, [2]string{name, strings.Trim(value, " \t")})
	return nil
}

func setAddr(to *netip.AddrPort, v string) error {
	if a, err := netip.ParseAddr(strings.Trim(v, "[]")); err == nil {
		*to = netip.AddrPortFrom(a, 0)
		return nil
	}
	a, err := netip.ParseAddrPort(v)
	if err != nil {
		return fmt.Errorf("'%s' is neither an IP address nor one with a port", v)
	}
	*to = a
	return nil
}

// kinds are the types of --var.
var kinds = map[string]bool{"str": true, "int": true, "bool": true, "ip": true, "bin": true, "meth": true}

func addVar(o *options, v string) error {
	name, value, ok := strings.Cut(v, "=")
	if !ok || name == "" {
		return fmt.Errorf("'%s' is not of the form name=type:value", v)
	}
	kind := "str"
	if k, rest, ok := strings.Cut(value, ":"); ok && kinds[k] {
		kind, value = k, rest
	}
	o.vars = append(o.vars, variable{name, kind, value})
	return nil
}
