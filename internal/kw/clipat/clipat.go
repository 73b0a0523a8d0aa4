// Package clipat holds the runtime commands that look at the lists of patterns
// of ACLs and maps and change them (Management Guide 9.3, "show map" and its
// kin).
package clipat

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"weir/internal/feat/cli"
	"weir/internal/lang/eval"
	"weir/internal/lang/pattern"
	"weir/internal/lang/sample"
)

// kind is whether a command is about maps or about ACLs.
type kind struct {
	isMap bool
	name  string // as messages call it
	word  string
}

var kinds = [...]kind{{true, "map", "map"}, {false, "ACL", "acl"}}

func init() {
	for _, k := range kinds {
		for _, c := range []cli.Command{
			{Words: []string{"show"}, Usage: "show %[1]s [@<ver>] [%[1]s]", Help: "lists the %[1]ss, or the entries of one", Run: k.show},
			{Words: []string{"get"}, Usage: "get %[1]s <%[1]s> <value>", Help: "tells which entry of a %[1]s a value matches", Run: k.get},
			{Words: []string{"add"}, Usage: "add %[1]s [@<ver>] <%[1]s> " + map[bool]string{true: "<key> <val>", false: "<pattern>"}[k.isMap],
				Help: "adds an entry to a %[1]s", Run: k.add},
			{Words: []string{"del"}, Usage: "del %[1]s <%[1]s> [<key>|#<ref>]", Help: "removes the entries of a key from a %[1]s", Run: k.del},
			{Words: []string{"clear"}, Usage: "clear %[1]s [@<ver>] <%[1]s>", Help: "removes all entries of a %[1]s", Run: k.clear},
			{Words: []string{"prepare"}, Usage: "prepare %[1]s <%[1]s>", Help: "begins a new version of a %[1]s", Run: k.prepare},
			{Words: []string{"commit"}, Usage: "commit %[1]s @<ver> <%[1]s>", Help: "puts a version of a %[1]s in use", Run: k.commit},
		} {
			c.Words = append(c.Words, k.word)
			c.Usage, c.Help = fmt.Sprintf(c.Usage, k.word), fmt.Sprintf(c.Help, k.word)
			c.Level = cli.Admin
			cli.Register(c)
		}
	}
	cli.Register(cli.Command{Words: []string{"set", "map"}, Level: cli.Admin, Usage: "set map <map> [<key>|#<ref>] <value>", Help: "changes the value of a key of a map", Run: setMap})
}

// has reports whether a list is of the kind; one with an identity of its own ("-u") is an ACL.
func (k kind) has(l *pattern.List) bool {
	if k.isMap {
		return l.Map
	}
	return l.ACL || !l.Map
}

// find returns the list of the kind that an argument names; nil after an answer.
func (k kind) find(c *cli.Context, name string) *pattern.List {
	l := k.lookup(c, name)
	if l != nil && k.isMap && !l.Map {
		c.Err("Unknown %s identifier. Please use #<id> or <file>.", k.name)
		return nil
	}
	return l
}

// lookup returns the list that an argument names, of either kind: commands about ACLs reach the keys of maps.
func (k kind) lookup(c *cli.Context, name string) *pattern.List {
	lists := pattern.ListsOf(c.Host.Config())
	l := lists.Get(name)
	if l == nil {
		l = lists.Named(name)
	}
	if l == nil {
		c.Err("Unknown %s identifier. Please use #<id> or <file>.", k.name)
		return nil
	}
	return l
}

// version takes a version such as "@3" off the arguments; ok is false after an answer.
func version(c *cli.Context) (v uint32, given, ok bool) {
	text, given := strings.CutPrefix(c.Arg(0), "@")
	if !given {
		return 0, false, true
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		c.Err("'@%s' is no version.", text)
		return 0, true, false
	}
	c.Args = c.Args[1:]
	return uint32(n), true, true
}

func (k kind) show(c *cli.Context) {
	v, given, ok := version(c)
	if !ok {
		return
	}
	if len(c.Args) == 0 {
		k.list(c)
		return
	}
	l := k.find(c, c.Arg(0))
	if l == nil {
		return
	}
	if k.isMap != l.Map {
		c.Err("Unknown %s identifier. Please use #<id> or <file>.", k.name)
		return
	}
	out := make([]byte, 0, dumpBytes)
	line := func(key, value []byte) bool {
		out = appendRef(out, ref(key))
		out = append(append(out, ' '), key...)
		if l.Map {
			out = append(append(out, ' '), value...)
		}
		out = append(out, '\n')
		if len(out) >= dumpBytes/2 {
			_, _ = c.Write(out) // Failed tells
			out = out[:0]
		}
		return !c.Failed()
	}
	if cur, _ := l.Versions(); given && v != cur {
		l.EachVersion(v, func(key, value string) bool { return line([]byte(key), []byte(value)) })
	} else {
		l.Each(line)
	}
	_, _ = c.Write(out) // a failure ends the session
}

// dumpBytes is how much of a list is gathered before it is written.
const dumpBytes = 4096

// appendRef writes how an entry is called besides its key.
func appendRef(dst []byte, n uint64) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, "0x"...)
	for shift := 44; shift >= 0; shift -= 4 {
		dst = append(dst, digits[n>>shift&15])
	}
	return dst
}

// list prints one line a list.
func (k kind) list(c *cli.Context) {
	c.Print("# id (file) description\n")
	for _, l := range pattern.ListsOf(c.Host.Config()).All() {
		if !k.has(l) {
			continue
		}
		cur, next := l.Versions()
		c.Printf("%d (%s) %s. curr_ver=%d next_ver=%d entry_cnt=%d\n", l.ID, l.Name, describe(l), cur, max(cur, next), l.Entries())
	}
}

// describe says where a list comes from and what uses it.
func describe(l *pattern.List) string {
	uses := strings.Join(l.Uses(), ", by ")
	switch {
	case strings.HasPrefix(l.Name, "#"): // an ACL with an identity of its own ("-u")
		return "acl"
	case uses == "":
		uses = "acl"
	}
	return fmt.Sprintf("pattern loaded from file '%s' used by %s", l.Name, uses)
}

// ref is how an entry is called besides its key: entries of the same key share it.
func ref(key []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(key) // never fails
	return h.Sum64()>>16 | 1
}

// key resolves "#0x..." to the key of the entry; ok is false when there is none.
func key(l *pattern.List, text string) (_ string, ok bool) {
	hex, isRef := strings.CutPrefix(text, "#")
	if !isRef {
		return text, true
	}
	want, err := strconv.ParseUint(strings.TrimPrefix(hex, "0x"), 16, 64)
	if err != nil {
		return text, true // a key that begins like a reference
	}
	l.Each(func(key, _ []byte) bool {
		if ok = ref(key) == want; ok {
			text = string(key)
		}
		return !ok
	})
	return text, ok
}

// network finds the longest network of a view that an address lies in; an index of addresses does not keep it as text.
func network(v *pattern.View, text string) (found []byte) {
	ip, ok := sample.ParseAddr([]byte(text))
	if !ok {
		return nil
	}
	best := -1
	v.Each(func(key, _ []byte) bool {
		p, err := netip.ParsePrefix(string(key))
		if a, ok := sample.ParseAddr(key); err != nil && ok {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err == nil && p.Contains(ip) && p.Bits() > best {
			best, found = p.Bits(), bytes.Clone(key)
		}
		return true
	})
	return found
}

// trees are the methods whose index finds a value without looking at every entry.
var trees = []pattern.Method{pattern.Str, pattern.IP, pattern.Beg}

func (k kind) get(c *cli.Context) {
	if len(c.Args) < 2 || c.Arg(1) == "" {
		c.Err("Missing %s identifier and/or key.", k.name)
		return
	}
	l := k.find(c, c.Arg(0))
	if l == nil {
		return
	}
	tx, _ := eval.New(c.Host.Config())
	word := "match"
	if k.isMap {
		word = "found"
	}
	for _, v := range l.Views() {
		m, ok, err := v.Lookup(tx, c.Arg(1))
		if err != nil {
			c.Err("%s.", err)
			return
		}
		if !ok {
			c.Printf("type=%s, case=sensitive, %s=no\n", v.Method(), word)
			continue
		}
		if len(m.Key) == 0 && v.Method() == pattern.IP {
			m.Key = network(v, c.Arg(1))
		}
		idx := "list"
		if slices.Contains(trees, v.Method()) {
			idx = "tree"
		}
		if k.isMap {
			c.Printf("type=%s, case=sensitive, found=yes, idx=%s, key=%q, value=%q, type=\"str\"\n", v.Method(), idx, m.Key, m.Value)
		} else {
			c.Printf("type=%s, case=sensitive, match=yes, idx=%s, pattern=%q\n", v.Method(), idx, m.Key)
		}
	}
}

func (k kind) add(c *cli.Context) {
	v, given, ok := version(c)
	if !ok {
		return
	}
	fits := len(c.Args) >= 2 && c.Arg(1) != ""
	if k.isMap {
		fits = len(c.Args) >= 3 && !c.HasPayload || len(c.Args) >= 1 && c.HasPayload
	} else if c.HasPayload {
		fits = false
	}
	switch {
	case fits:
	case k.isMap:
		c.Err("'add map' expects three parameters (map identifier, key and value) or one parameter (map identifier) and a payload")
		return
	default:
		c.Err("'add acl' expects two parameters: ACL identifier and pattern.")
		return
	}
	l := k.lookup(c, c.Arg(0))
	switch {
	case l == nil:
		return
	case !k.isMap && l.Map:
		c.Err("This ACL is shared with a map containing samples. You must use the command 'add map' to add values.")
		return
	}
	put := l.Add
	if cur, next := l.Versions(); given && v != cur {
		if v > next {
			c.Err("Version number in the future, please use 'prepare %s' before.", k.word)
			return
		}
		put = func(key, value string) error { return l.AddVersion(v, key, value) }
	}
	if !c.HasPayload {
		addError(c, put(c.Arg(1), c.Arg(2)))
		return
	}
	addLines(c, put)
}

// addLines adds the entries of a payload: the first word of a line is a key, the rest of it the value.
func addLines(c *cli.Context, put func(key, value string) error) {
	for line := range strings.Lines(c.Payload) {
		line = strings.TrimRight(line, "\r\n")
		key, value := line, ""
		if i := strings.IndexAny(line, " \t"); i >= 0 {
			key, value = line[:i], strings.TrimLeft(line[i:], " \t")
		}
		if value == "" {
			c.Err("Missing value for key '%s'.", key)
			return
		}
		if !addError(c, put(key, value)) {
			return
		}
	}
}

// addError answers an error of adding; true for none.
func addError(c *cli.Context, err error) bool {
	switch {
	case err == nil:
		return true
	case errors.Is(err, pattern.ErrNoVersion):
		c.Err("Version number in the past.")
	default:
		c.Err("%s.", err)
	}
	return false
}

func (k kind) del(c *cli.Context) {
	if len(c.Args) < 2 {
		c.Err("This command expects two parameters: %s identifier and key.", k.name)
		return
	}
	l := k.find(c, c.Arg(0))
	if l == nil {
		return
	}
	name, ok := key(l, c.Arg(1))
	if !ok || l.DelFirst(name) != nil {
		c.Err("Key not found.")
	}
}

func setMap(c *cli.Context) {
	if len(c.Args) < 3 {
		c.Err("'set map' expects three parameters: map identifier, key and value.")
		return
	}
	l := kinds[0].find(c, c.Arg(0))
	if l == nil {
		return
	}
	name, ok := key(l, c.Arg(1))
	if !ok {
		c.Err("key or pattern not found.")
		return
	}
	err := l.Set(name, c.Arg(2))
	switch {
	case errors.Is(err, pattern.ErrNoEntry):
		c.Err("entry not found.")
	case err != nil:
		c.Err("%s.", err)
	}
}

func (k kind) clear(c *cli.Context) {
	v, given, ok := version(c)
	if !ok {
		return
	}
	if len(c.Args) < 1 {
		c.Err("Missing %s identifier.", k.name)
		return
	}
	l := k.find(c, c.Arg(0))
	if l == nil {
		return
	}
	if cur, _ := l.Versions(); given && v != cur {
		l.ClearVersion(v)
		return
	}
	l.Clear()
}

func (k kind) prepare(c *cli.Context) {
	if len(c.Args) < 1 {
		c.Err("Missing %s identifier.", k.name)
		return
	}
	if l := k.find(c, c.Arg(0)); l != nil {
		c.Msg(cli.SevInfo, "New version created: %d", l.Prepare())
	}
}

func (k kind) commit(c *cli.Context) {
	v, given, ok := version(c)
	if !ok {
		return
	}
	if !given {
		c.Err("Missing version number.")
		return
	}
	if len(c.Args) < 1 {
		c.Err("Missing %s identifier.", k.name)
		return
	}
	l := k.find(c, c.Arg(0))
	if l == nil {
		return
	}
	err := l.Commit(v)
	switch {
	case errors.Is(err, pattern.ErrNoVersion):
		c.Err("Version number out of range.")
	case err != nil:
		c.Err("%s.", err)
	}
}
