// Package corpus reads the table of malformed and ambiguous HTTP/1 messages
// that the codec, the binary and the reference are tested with. Only tests
// import it.
//
// The files are in ../testdata. A case is a paragraph of "key: value" lines;
// lines that start with '#' are comments:
//
//	name    what is special, unique among requests or among answers
//	in      the bytes sent: by the client, or by the server when the file
//	        holds answers
//	req     answers: the request they answer (default GET / HTTP/1.1)
//	opts    "unsafe": both accept-unsafe-violations options are set
//	want    status that the client sees first; "-" when nothing is answered.
//	        Requests that reach the server are answered 200 there
//	out     what the other side receives (nothing when absent)
//	ref     what the reference answers instead, with ref-out: a deliberate
//	        difference, explained by why
//	old     what the reference answers in its version 2.6, with old-out, when
//	        that is not what version 3.5 does; "?" when it varies
//	why     reason of a difference
//
// Values are bytes with the escapes \r \n \t \0 \\ \xHH, and \*N(text) for N
// repetitions of text. In out, a body in chunks is written as one chunk: only
// its data counts.
package corpus

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Case is one paragraph.
type Case struct {
	File, Name string
	Line       int
	Answers    bool // In comes from the server
	Unsafe     bool
	In, Req    []byte
	Want       string
	Out        []byte
	Ref        string // empty: as Want
	RefOut     []byte
	Old        string // empty: as Ref
	OldOut     []byte
	Why        string
	hasOld     bool
}

// Reference returns what the reference does; old selects its version 2.6.
func (c *Case) Reference(old bool) (status string, out []byte) {
	if old && c.hasOld {
		return c.Old, c.OldOut
	}
	if c.Ref != "" {
		return c.Ref, c.RefOut
	}
	return c.Want, c.Out
}

// Load reads all files of a directory.
func Load(dir string) ([]Case, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("no corpus in %s: %v", dir, err)
	}
	var all []Case
	seen := map[string]bool{}
	for _, name := range names {
		cases, err := loadFile(name)
		if err != nil {
			return nil, err
		}
		for _, c := range cases {
			key := fmt.Sprint(c.Answers, c.File, c.Name)
			if seen[key] {
				return nil, fmt.Errorf("%s:%d: second case %q", name, c.Line, c.Name)
			}
			seen[key] = true
			all = append(all, c)
		}
	}
	return all, nil
}

func loadFile(name string) ([]Case, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Case
	var cur *Case
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for line := 1; sc.Scan(); line++ {
		text := sc.Text()
		switch {
		case text == "":
			cur = nil
			continue
		case text[0] == '#':
			continue
		case cur == nil:
			out = append(out, Case{File: filepath.Base(name), Line: line, Req: []byte("GET / HTTP/1.1\r\n\r\n"),
				Answers: strings.HasPrefix(filepath.Base(name), "answers")})
			cur = &out[len(out)-1]
		}
		key, value, ok := strings.Cut(text, ":")
		if !ok {
			return nil, fmt.Errorf("%s:%d: no colon", name, line)
		}
		if err := cur.set(key, strings.TrimPrefix(value, " ")); err != nil {
			return nil, fmt.Errorf("%s:%d: %v", name, line, err)
		}
	}
	return out, sc.Err()
}

func (c *Case) set(key, value string) (err error) {
	switch key {
	case "name":
		c.Name = value
	case "in":
		c.In, err = Unescape(value)
	case "req":
		c.Req, err = Unescape(value)
	case "opts":
		c.Unsafe = value == "unsafe"
		if !c.Unsafe {
			err = fmt.Errorf("unknown option %q", value)
		}
	case "want":
		c.Want = value
	case "out":
		c.Out, err = Unescape(value)
	case "ref":
		c.Ref = value
	case "ref-out":
		c.RefOut, err = Unescape(value)
	case "old":
		c.Old, c.hasOld = value, true
	case "old-out":
		c.OldOut, err = Unescape(value)
	case "why":
		c.Why = value
	default:
		err = fmt.Errorf("unknown key %q", key)
	}
	return err
}

// Unescape turns the notation of the files into bytes.
func Unescape(s string) ([]byte, error) {
	var out []byte
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, s[i])
			continue
		}
		i++
		if i == len(s) {
			return nil, fmt.Errorf("lone backslash")
		}
		switch s[i] {
		case 'r':
			out = append(out, '\r')
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case '0':
			out = append(out, 0)
		case '\\':
			out = append(out, '\\')
		case 'x':
			if i+2 >= len(s) {
				return nil, fmt.Errorf("short \\x")
			}
			v, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
			if err != nil {
				return nil, err
			}
			out = append(out, byte(v))
			i += 2
		case '*':
			open, end := strings.IndexByte(s[i:], '('), strings.IndexByte(s[i:], ')')
			if open < 0 || end < open {
				return nil, fmt.Errorf("\\* without (text)")
			}
			n, err := strconv.Atoi(s[i+1 : i+open])
			if err != nil || n > 1<<20 {
				return nil, fmt.Errorf("bad count in \\*: %v", err)
			}
			part, err := Unescape(s[i+open+1 : i+end])
			if err != nil {
				return nil, err
			}
			for ; n > 0; n-- {
				out = append(out, part...)
			}
			i += end
		default:
			return nil, fmt.Errorf("unknown escape \\%c", s[i])
		}
	}
	return out, nil
}
