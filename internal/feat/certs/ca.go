package certs

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
)

// SystemCA names the authorities that the system trusts.
const SystemCA = "@system-ca"

// CAFile is a set of authorities by the name of its file.
type CAFile struct {
	Name string
	data atomic.Pointer[CAs]
}

// Data returns what the file is at present.
func (f *CAFile) Data() *CAs { return f.data.Load() }

// CAs are certificates that end chains. They are read-only.
type CAs struct {
	Certs []*x509.Certificate
	pool  *x509.CertPool
}

// caExtensions are those of the files that are read in a folder.
var caExtensions = []string{".pem", ".crt", ".cer", ".crl"}

// LoadCA returns the authorities of a file, a folder or [SystemCA].
func (s *Store) LoadCA(path string) (*CAFile, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.cas[path]; f != nil {
		return f, nil
	}
	cas, err := readCAs(path)
	if err != nil {
		return nil, err
	}
	f := &CAFile{Name: path}
	f.data.Store(cas)
	s.cas[path] = f
	return f, nil
}

func readCAs(path string) (*CAs, error) {
	if path == SystemCA {
		pool, err := x509.SystemCertPool()
		if err != nil {
			return nil, fmt.Errorf("the authorities of the system cannot be read: %w", err)
		}
		return &CAs{pool: pool}, nil
	}
	files := []string{path}
	if isDir(path) {
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, fmt.Errorf("cannot read the folder '%s': %w", path, plain(err))
		}
		files = nil
		for _, e := range entries {
			n := e.Name()
			if !strings.HasPrefix(n, ".") && slices.ContainsFunc(caExtensions, func(x string) bool { return strings.HasSuffix(n, x) }) {
				files = append(files, strings.TrimSuffix(path, "/")+"/"+n)
			}
		}
	}
	cas := &CAs{pool: x509.NewCertPool()}
	for _, f := range files {
		text, err := readFile(f)
		if err != nil {
			return nil, fmt.Errorf("cannot read the authorities '%s': %w", f, err)
		}
		if err := cas.add(text); err != nil {
			return nil, fmt.Errorf("the authorities '%s' cannot be used: %w", f, err)
		}
	}
	if len(cas.Certs) == 0 {
		return nil, fmt.Errorf("there is no certificate of an authority in '%s'", path)
	}
	return cas, nil
}

// add takes over the certificates of a PEM text.
func (a *CAs) add(text []byte) error {
	for {
		var b *pem.Block
		if b, text = pem.Decode(text); b == nil {
			return nil
		}
		if !strings.HasSuffix(b.Type, "CERTIFICATE") {
			continue
		}
		c, err := x509.ParseCertificate(b.Bytes)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(a.Certs, c.Equal) {
			a.Certs = append(a.Certs, c)
			a.pool.AddCert(c)
		}
	}
}
