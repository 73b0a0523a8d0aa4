package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"weir/internal/base/diag"
)

// parseFiles expands folders and parses all files in order.
func (p *Parser) parseFiles() {
	for _, name := range p.opts.Files {
		p.files = append(p.files, p.expand(name)...)
	}
	p.env.Set("HAPROXY_CFGFILES", strings.Join(p.files, ";"))
	if len(p.files) == 0 && p.diags.Errors() == 0 {
		p.diags.Alertf(diag.Position{}, "no configuration file: none was given, or the folders given hold no file named *.cfg.")
	}
	for _, name := range p.files {
		data, err := p.read(name)
		if err != nil {
			p.diags.Alertf(diag.Position{}, "cannot read the configuration file %s: %s.", name, reason(err))
			continue
		}
		p.parseData(name, string(data))
	}
	p.file, p.line = "", 0
	if p.dump != nil && p.dump.err != nil {
		p.diags.Alertf(diag.Position{}, "cannot write the dump of the configuration: %s.", reason(p.dump.err))
	}
}

// expand returns the files that a name of the command line stands for.
func (p *Parser) expand(name string) []string {
	if name == "-" {
		return []string{name}
	}
	readDir := p.opts.ReadDir
	if readDir == nil {
		readDir = dirNames
	}
	names, isDir, err := readDir(p.inDir(name))
	switch {
	case err != nil:
		p.diags.Alertf(diag.Position{}, "cannot open the configuration file or folder %s: %s.", name, reason(err))
		return nil
	case !isDir:
		return []string{name}
	}
	slices.Sort(names)
	var files []string
	for _, n := range names {
		if strings.HasSuffix(n, ".cfg") && !strings.HasPrefix(n, ".") {
			files = append(files, strings.TrimSuffix(name, "/")+"/"+n)
		}
	}
	return files
}

// dirNames lists the regular files of a folder; ok is false when the path is
// no folder.
func dirNames(dir string) (names []string, ok bool, err error) {
	st, err := os.Stat(dir)
	if err != nil || !st.IsDir() {
		return nil, false, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, true, err
	}
	for _, e := range entries {
		if st, err := os.Stat(dir + "/" + e.Name()); err == nil && st.Mode().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, true, nil
}

func (p *Parser) read(name string) ([]byte, error) {
	switch {
	case name == "-" && p.opts.Stdin == nil:
		return nil, errors.New("standard input is not available")
	case name == "-":
		return readBounded(p.opts.Stdin, MaxStdin)
	case p.opts.ReadFile != nil:
		return p.opts.ReadFile(p.inDir(name))
	}
	f, err := os.Open(p.inDir(name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBounded(f, MaxFile)
}

// OpenFile opens a file that a configuration names: a list, an answer, a key. What is no regular file is refused, except
// /dev/null: a FIFO waits for its writer, and a device may never end.
func OpenFile(path string) (f *os.File, size int64, err error) {
	f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	st, err := f.Stat()
	switch {
	case err != nil:
	case st.IsDir():
		err = &os.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	case !st.Mode().IsRegular() && path != os.DevNull:
		err = &os.PathError{Op: "open", Path: path, Err: errNotRegular}
	default:
		return f, st.Size(), nil
	}
	f.Close()
	return nil, 0, err
}

var errNotRegular = errors.New("it is no regular file")

// ReadFile is OpenFile and reads the whole of it, which may have limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, _, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBounded(f, limit)
}

func readBounded(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("it is larger than the limit of %d bytes", limit)
	}
	return data, err
}

// reason shortens an error of the system to what went wrong.
func reason(err error) string {
	var e syscall.Errno
	if errors.As(err, &e) {
		return e.Error()
	}
	return err.Error()
}
