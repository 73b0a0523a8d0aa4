package certs

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Load returns the certificate of a file; it is read at the first call. The errors of different files are told apart by their
// text, which names the file.
func (s *Store) Load(path string) (*Cert, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.load(path)
}

func (s *Store) load(path string) (*Cert, error) {
	if c := s.certs[path]; c != nil {
		return c, nil
	}
	text, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the certificate '%s': %w", path, err)
	}
	p, err := parsePEM(text)
	if err == nil && p.key.kind == "" {
		if text, rerr := readFile(path + ".key"); rerr == nil {
			var k parsed
			if k, err = parsePEM(text); err == nil {
				p.key = k.key
			}
		}
	}
	var d *Data
	if err == nil {
		d, err = newData(p)
	}
	if err != nil {
		return nil, fmt.Errorf("the certificate '%s' cannot be used: %w", path, err)
	}
	c := &Cert{Name: path}
	c.data.Store(d)
	s.certs[path] = c
	return c, nil
}

// isDir reports whether a path is a folder.
func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// reserved are the extensions of files that accompany a certificate.
var reserved = []string{".key", ".issuer", ".ocsp", ".sctl"}

// LoadDir returns the certificates of a folder in the order of their names, and all errors.
func (s *Store) LoadDir(dir string) (list []*Cert, errs []error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, []error{fmt.Errorf("cannot read the folder '%s': %w", dir, plain(err))}
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || slices.ContainsFunc(reserved, func(x string) bool { return strings.HasSuffix(name, x) }) {
			continue
		}
		path := strings.TrimSuffix(dir, "/") + "/" + name
		if isDir(path) {
			continue
		}
		c, err := s.Load(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list = append(list, c)
	}
	return list, errs
}

// bundles are the extensions of files that are certificates for the same names with different keys.
var bundles = []string{".rsa", ".ecdsa", ".dsa"}

// LoadAny loads a file, a folder, or the files of a bundle by what their names begin with.
func (s *Store) LoadAny(path string) ([]*Cert, []error) {
	if isDir(path) {
		return s.LoadDir(path)
	}
	if _, err := os.Stat(path); err != nil {
		var list []*Cert
		var errs []error
		for _, x := range bundles {
			if _, err := os.Stat(path + x); err == nil {
				c, err := s.Load(path + x)
				if err != nil {
					errs = append(errs, err)
					continue
				}
				list = append(list, c)
			}
		}
		if len(list)+len(errs) > 0 {
			return list, errs
		}
	}
	c, err := s.Load(path)
	if err != nil {
		return nil, []error{err}
	}
	return []*Cert{c}, nil
}
