package tlskw

import (
	"fmt"
	"slices"
	"strings"

	"weir/internal/feat/certs"
	"weir/internal/lang/config"
)

// maxList bounds a crt-list, in bytes.
const maxList = 64 << 20

// readList reads a crt-list (manual 5.1): lines of "<file> [<options>] <names>".
func readList(l *config.Line, store *certs.Store, g *settings, path string) (entries []certs.Entry) {
	text, err := config.ReadFile(path, maxList)
	if err != nil {
		l.Errorf(0, "cannot read the crt-list '%s': %s.", path, err)
		return nil
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		list, warning, err := readEntry(l, store, g, line)
		switch {
		case err != nil:
			l.Errorf(0, "the crt-list '%s', line %d: %s.", path, n, err)
			if l.Parser().Diags().Errors() > maxErrors {
				return nil
			}
		case warning != "":
			l.Warnf(0, "the crt-list '%s', line %d: %s.", path, n, warning)
		}
		entries = append(entries, list...)
	}
	if len(entries) == 0 && n == 0 {
		l.Errorf(0, "the crt-list '%s' is empty.", path)
	}
	return entries
}

// maxErrors is after how many errors a list is not read on.
const maxErrors = 50

func readEntry(l *config.Line, store *certs.Store, g *settings, line string) (entries []certs.Entry, warning string, err error) {
	name, rest := cutWord(line)
	var e certs.Entry
	if strings.HasPrefix(rest, "[") {
		in, after, ok := strings.Cut(rest[1:], "]")
		if !ok {
			return nil, "", fmt.Errorf("the options lack their closing bracket")
		}
		e.Options = new(certs.Options)
		if warning, err = readOptions(l, e.Options, g, strings.Fields(in)); err != nil {
			return nil, "", err
		}
		rest = after
	}
	if strings.ContainsAny(rest, "[]") {
		return nil, "", fmt.Errorf("options stand in brackets directly behind the file")
	}
	e.Filters = strings.Fields(rest)
	list, errs := store.LoadAny(under(l, g.crt, name))
	if len(errs) > 0 {
		return nil, "", errs[0]
	}
	for _, c := range list {
		one := e
		one.Cert = c
		entries = append(entries, one)
	}
	return entries, warning, nil
}

// cutWord takes the first word; an opening bracket ends it too.
func cutWord(s string) (word, rest string) {
	i := strings.IndexAny(s, " \t[")
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimSpace(s[i:])
}

// listOptions are those that an entry may have.
var listOptions = []string{"alpn", "ca-file", "ca-verify-file", "ciphers", "ciphersuites", "crl-file", "curves", "ecdhe", "no-alpn", "no-ca-names", "ssl-min-ver", "ssl-max-ver", "verify"}

func readOptions(l *config.Line, o *certs.Options, g *settings, words []string) (warning string, err error) {
	for i := 0; i < len(words); i++ {
		name, value := words[i], ""
		if !slices.Contains(listOptions, name) {
			return "", fmt.Errorf("'%s' is no option that weir has in a crt-list: %s", name, strings.Join(listOptions, ", "))
		}
		if slices.Contains(certs.Values, name) {
			if i++; i == len(words) {
				return "", fmt.Errorf("'%s' lacks its value", name)
			}
			value = words[i]
			if name == "ca-file" || name == "ca-verify-file" || name == "crl-file" {
				value = under(l, g.ca, value)
			}
		}
		w, err := o.Set(name, value)
		if err != nil {
			return "", err
		}
		if w != "" {
			warning = w
		}
	}
	return warning, nil
}
