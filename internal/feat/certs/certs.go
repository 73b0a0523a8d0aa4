// Package certs keeps the certificates of a configuration and makes what TLS handshakes run under: which certificate
// a name gets, which clients are let in, which servers are trusted (manual 3.1, 5.1, 5.2 and 12.7).
//
// A [Store] holds certificates, authorities and revocation lists by the name under which the configuration, and later the
// runtime API, knows them: files, mostly. They are read while the configuration is checked. A [Listener] is what a bind line makes of
// some of them: an index from names to certificates that handshakes read without a lock.
//
// Private keys and certificates are kept as they stand in the file and parsed when the first client asks for them: tens of thousands of
// names cost what their files hold.
package certs

import (
	"errors"
	"os"
	"sync"

	"weir/internal/lang/config"
	"weir/internal/model"
)

// maxFile bounds each file of certificates, in bytes.
const maxFile = 64 << 20

// Store holds everything that is known by the name of a file.
type Store struct {
	mu    sync.Mutex // held by changes; handshakes read what [Listener] publishes
	certs map[string]*Cert
	cas   map[string]*CAFile
}

var storeOf = &model.SlotKey[*Store]{Name: "certificates"}

// StoreOf returns the store of a configuration.
func StoreOf(cfg *model.Config) *Store {
	s := storeOf.Get(&cfg.Slots)
	if s == nil {
		s = &Store{certs: make(map[string]*Cert), cas: make(map[string]*CAFile)}
		storeOf.Set(&cfg.Slots, s)
	}
	return s
}

// readFile reads a file that a configuration names.
func readFile(path string) ([]byte, error) {
	data, err := config.ReadFile(path, maxFile)
	return data, plain(err)
}

// plain leaves the path out of an error, for messages name it themselves.
func plain(err error) error {
	if e := new(os.PathError); errors.As(err, &e) {
		return e.Err
	}
	return err
}
