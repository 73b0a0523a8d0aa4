package config

import (
	"path"
	"slices"
	"strings"

	"weir/internal/base/diag"
	"weir/internal/base/registry"
)

// builtins are the keywords of the global section that change the parse
// itself; every registry has them.
var builtins = []Keyword{
	{Name: "setenv", Args: "<name> <value>", Help: "sets an environment variable", In: InGlobal,
		Parse: func(l *Line, _ any) { setVar(l, (*Env).Set) }},
	{Name: "presetenv", Args: "<name> <value>", Help: "sets an environment variable unless it exists", In: InGlobal,
		Parse: func(l *Line, _ any) { setVar(l, (*Env).Preset) }},
	{Name: "unsetenv", Args: "<name> ...", Help: "removes environment variables", In: InGlobal,
		Parse: func(l *Line, _ any) {
			if l.NeedArgs(1, -1) {
				for _, name := range l.Args(0) {
					l.p.env.Unset(name)
				}
			}
		}},
	{Name: "resetenv", Args: "[<name> ...]", Help: "removes all environment variables but those named", In: InGlobal,
		Parse: func(l *Line, _ any) { l.p.env.Reset(l.Args(0)...) }},
	{Name: "default-path", Args: "{ current | config | parent | origin <path> }", Help: "where relative file names start", In: InGlobal,
		Parse: func(l *Line, _ any) { parseDefaultPath(l) }},
	{Name: "zero-warning", Help: "refuses to start when there are warnings", In: InGlobal,
		Parse: func(l *Line, _ any) {
			if l.NeedArgs(0, 0) {
				l.p.zeroWarning = true
			}
		}},
	{Name: "expose-experimental-directives", Help: "allows experimental keywords", In: InGlobal,
		Parse: func(l *Line, _ any) {
			if l.NeedArgs(0, 0) {
				l.p.experimental = true
			}
		}},
	{Name: "expose-deprecated-directives", Help: "allows deprecated keywords without a warning", In: InGlobal,
		Parse: func(l *Line, _ any) {
			if l.NeedArgs(0, 0) {
				l.p.deprecated = true
			}
		}},
}

func setVar(l *Line, set func(e *Env, name, value string)) {
	if !l.NeedArgs(2, 2) {
		return
	}
	if strings.Contains(l.Arg(0), "=") {
		l.Errorf(0, "'%s' is no possible name of a variable: it contains '='.", l.Arg(0))
		return
	}
	if l.p.env.Size()+len(l.Arg(0))+len(l.Arg(1)) > MaxEnv {
		l.Errorf(1, "the environment would be larger than %d bytes.", MaxEnv)
		return
	}
	set(l.p.env, l.Arg(0), strings.Clone(l.Arg(1)))
}

// pathPolicy says where relative file names start (default-path).
type pathPolicy struct {
	mode   string // "" or "current", "config", "parent", "origin"
	origin string
}

func parseDefaultPath(l *Line) {
	modes := []string{"current", "config", "parent", "origin"}
	if !l.Has(0) {
		l.Errorf(0, "'default-path' expects one of: %s.", quoteList(modes))
		return
	}
	mode := l.Arg(0)
	switch {
	case !slices.Contains(modes, mode):
		l.Unknown(0, "default-path policy", modes)
		return
	case mode == "origin" && !l.Has(1):
		l.Errorf(1, "'default-path origin' needs a path.")
		return
	case mode == "origin" && !l.p.isFolder(l.Arg(1)):
		l.Errorf(1, "'%s' is not a folder.", l.Arg(1))
		return
	case mode == "origin" && l.NeedArgs(2, 2), mode != "origin" && l.NeedArgs(1, 1):
		l.p.paths = pathPolicy{mode: mode, origin: l.Arg(1)}
	}
}

// isFolder reports whether a path, relative to Options.Dir, is a folder that can be listed.
func (p *Parser) isFolder(name string) bool {
	readDir := p.opts.ReadDir
	if readDir == nil {
		readDir = dirNames
	}
	_, ok, err := readDir(p.inDir(name))
	return ok && err == nil
}

// Path resolves a file name found on the current line: relative names start
// where default-path says, and that itself starts in Options.Dir.
func (p *Parser) Path(name string) string {
	return p.pathFrom(p.paths, p.file, name)
}

// Path resolves a file name found on the line, see [Parser.Path].
func (l *Line) Path(name string) string { return l.p.pathFrom(l.p.paths, l.pos.File, name) }

func (p *Parser) pathFrom(pol pathPolicy, file, name string) string {
	if name == "" || path.IsAbs(name) {
		return name
	}
	base := ""
	dir := file[:strings.LastIndexByte(file, '/')+1]
	switch pol.mode {
	case "config":
		base = dir
	case "parent":
		base = dir + "../"
	case "origin":
		base = pol.origin
	}
	if base != "" {
		name = strings.TrimSuffix(base, "/") + "/" + name
	}
	return p.inDir(name)
}

// inDir applies Options.Dir to a path that is relative to it.
func (p *Parser) inDir(name string) string {
	if p.opts.Dir == "" || path.IsAbs(name) {
		return name
	}
	return strings.TrimSuffix(p.opts.Dir, "/") + "/" + name
}

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}

// suggestion is "; did you mean 'x'?", or nothing.
func suggestion(name string, valid []string) string {
	if near := registry.Nearest(name, valid); near != "" {
		return "; did you mean '" + near + "'?"
	}
	return ""
}

// Errorf reports an error of the check stage at a place, which may be zero.
func (p *Parser) Errorf(pos diag.Position, format string, args ...any) {
	p.diags.Alertf(pos, format, args...)
}

// Warnf reports a warning of the check stage at a place, which may be zero.
func (p *Parser) Warnf(pos diag.Position, format string, args ...any) {
	p.diags.Warnf(pos, format, args...)
}
