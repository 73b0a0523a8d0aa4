package model

import "crypto/tls"

// TLSListener is what the handshakes of a bind line's clients run under (manual 5.1, "ssl"); nil without "ssl".
type TLSListener struct {
	// Config chooses the certificate by name (GetCertificate) or a whole other configuration for a name
	// (GetConfigForClient). It is built once at start; what changes at run time changes behind its functions.
	Config *tls.Config
	// Capture is how many bytes of the ClientHello are kept for fetches (tune.ssl.capture-buffer-size), 0: none.
	Capture int
}

// TLSServer is what connections to a server run under (manual 5.2, "ssl"); nil without "ssl".
type TLSServer struct {
	// Config has no ServerName: SNI and VerifyHost give it for each connection.
	Config *tls.Config
	// SNI makes the name to send from the traffic (5.2, "sni"), nil: none.
	SNI Evaluator
	// VerifyHost is the name that the server's certificate must be for (5.2, "verifyhost"); "": the name that was sent.
	VerifyHost string
	// NoReuse forbids resuming sessions (5.2, "no-ssl-reuse").
	NoReuse bool
}

// Evaluator is a compiled expression.
type Evaluator interface {
	// Eval computes the value into v; false: there is none.
	Eval(tx *Txn, v *Value) bool
}
