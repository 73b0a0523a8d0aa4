package model

import (
	"crypto/tls"
	"crypto/x509"
)

// TLSListener is what the handshakes of a bind line's clients run under (manual 5.1, "ssl"); nil without "ssl".
type TLSListener struct {
	// Config chooses the certificate by name (GetCertificate) or a whole other configuration for a name
	// (GetConfigForClient). It is built once at start; what changes at run time changes behind its functions.
	Config *tls.Config
	// Capture is how many bytes of the ClientHello are kept for fetches (tune.ssl.capture-buffer-size), 0: none.
	Capture int
	// MaxRecord and EarlyRecord bound the plaintext of a record, always and for the first data, in bytes; 0: no bound
	// (tune.ssl.hard-maxrecord, tune.ssl.maxrecord).
	MaxRecord, EarlyRecord int
	// Verify holds the certificate of a client against what the bind line asks for. It tells the same each time, and counts
	// errors that are ignored too. nil: no certificate is asked for.
	Verify func(*tls.ConnectionState) VerifyResult
	// CertName is the name under which a certificate of the line is known; nil: nobody knows.
	CertName func(*tls.Certificate) string
	// KeyLog: the secrets of connections are kept for fetches (tune.ssl.keylog).
	KeyLog bool
}

// VerifyResult is what was found wrong with a chain of certificates: the first error of the certificate itself and that of the
// authorities above it, numbered as OpenSSL numbers them (X509_V_ERR_*), 0 for none.
type VerifyResult struct {
	Code    int
	CACode  int
	CADepth int // at which the authority stands that CACode is about
	// Root is the authority at the end of the chain, nil when none was found.
	Root *x509.Certificate
}

// Set notes an error at a depth of the chain, the first of its kind.
func (r *VerifyResult) Set(code, depth int) {
	switch {
	case depth == 0 && r.Code == 0:
		r.Code = code
	case depth > 0 && r.CACode == 0:
		r.CACode, r.CADepth = code, depth
	}
}

// VerifyError is why a handshake ended that asked for a certificate. The functions of a tls.Config return it.
type VerifyError struct {
	Code  int // X509_V_ERR_*
	Depth int // 0: the certificate itself; above 0: an authority
	// Server: it is the certificate of a server. Name: it was good, but not for the name that was asked for.
	Server, Name bool
	Err          error
}

// Error is the reason.
func (e *VerifyError) Error() string { return e.Err.Error() }

// Unwrap is the reason.
func (e *VerifyError) Unwrap() error { return e.Err }

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
	// KeyLog: the secrets of connections are kept for fetches (tune.ssl.keylog).
	KeyLog bool
}

// Evaluator is a compiled expression.
type Evaluator interface {
	// Eval computes the value into v; false: there is none.
	Eval(tx *Txn, v *Value) bool
}
