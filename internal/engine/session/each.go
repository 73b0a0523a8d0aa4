package session

// Each calls fn for all open sessions of the set. On its loop.
func (t *Set) Each(fn func(s *Session)) {
	for s := t.head; s != nil; s = s.next {
		fn(s)
	}
}

// Resting reports that the session waits for its next request.
func (s *Session) Resting() bool { return s.idle }

// Mux is the name of the protocol that the client speaks.
func (s *Session) Mux() string {
	if s.HTTP {
		return "H1"
	}
	return "PASS"
}
