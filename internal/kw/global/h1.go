package global

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"weir/internal/base/ascii"
	"weir/internal/lang/config"
	"weir/internal/model"
)

func init() {
	config.Global.Add(
		flag("h1-accept-payload-with-any-method", "accepts HTTP/1.0 GET, HEAD and DELETE requests with a body",
			func(g *model.Global) { g.H1PayloadAnyMethod = true }),
		flag("h1-do-not-close-on-insecure-transfer-encoding", "keeps connections open after a message with both length fields",
			func(g *model.Global) { g.H1KeepOnInsecureTE = true }),
		config.Keyword{Name: "h1-case-adjust", Args: "<from> <to>", Help: "case in which a header name is sent",
			Parse: config.On(func(l *config.Line, g *model.Global) {
				if !l.NeedArgs(2, 2) {
					return
				}
				if err := adjust(g, l.Arg(0), l.Arg(1)); err != nil {
					l.Errorf(0, "%v.", err)
				}
			})},
		config.Keyword{Name: "h1-case-adjust-file", Args: "<file>", Help: "file with pairs of h1-case-adjust",
			Parse: config.On(func(l *config.Line, g *model.Global) {
				if !l.NeedArgs(1, 1) {
					return
				}
				caseFile.Set(&g.Slots, l)
				l.Check(func(l *config.Line) {
					if caseFile.Get(&g.Slots) == l { // the last file counts
						readCaseFile(l, g)
					}
				})
			})},
	)
}

// caseFile is the line that names the file to read.
var caseFile = &model.SlotKey[*config.Line]{Name: "h1-case-adjust-file"}

// adjust adds a pair of names.
func adjust(g *model.Global, from, to string) error {
	switch {
	case !ascii.IsTokenBytes([]byte(from)):
		return fmt.Errorf("'%s' is no name of a header field", from)
	case strings.ToLower(from) != from:
		return fmt.Errorf("'%s' must be in lower case", from)
	case !strings.EqualFold(from, to) || len(from) != len(to):
		return fmt.Errorf("'%s' and '%s' differ in more than the case of their letters", from, to)
	}
	if old, dup := g.H1CaseAdjust[from]; dup {
		return fmt.Errorf("'%s' is to be sent as '%s' already", from, old)
	}
	if g.H1CaseAdjust == nil {
		g.H1CaseAdjust = make(map[string]string)
	}
	g.H1CaseAdjust[from] = to
	return nil
}

func readCaseFile(l *config.Line, g *model.Global) {
	name := l.Path(l.Arg(0))
	f, _, err := config.OpenFile(name)
	if err != nil {
		if e := new(os.PathError); errors.As(err, &e) {
			err = e.Err
		}
		l.Errorf(0, "cannot read '%s': %v.", name, err)
		return
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	for n := 1; in.Scan(); n++ {
		line := strings.Trim(in.Text(), " \t\r")
		if line == "" || line[0] == '#' {
			continue
		}
		words := strings.Fields(line)
		if len(words) != 2 {
			l.Errorf(0, "'%s', line %d: two names are expected, '%s' has %d.", name, n, line, len(words))
			continue
		}
		if err := adjust(g, words[0], words[1]); err != nil {
			l.Errorf(0, "'%s', line %d: %v.", name, n, err)
		}
	}
	if err := in.Err(); err != nil {
		l.Errorf(0, "cannot read '%s': %v.", name, err)
	}
}
