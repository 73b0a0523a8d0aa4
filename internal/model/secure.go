package model

import "crypto/tls"

// TLSConn is the TLS layer of a connection. What it returns is not to be changed.
type TLSConn interface {
	// State is what crypto/tls knows of the connection.
	State() tls.ConnectionState
	// Hello is the beginning of what the client sent, records and all, as far as it was asked to be kept.
	Hello() []byte
	// Reply is the beginning of what the server sent, if it was asked to be kept.
	Reply() []byte
	// Own is the certificate that the other side was shown; nil for none, and when the session was resumed.
	Own() *tls.Certificate
	// Failure is why the handshake failed, nil if it did not.
	Failure() error
	// Secret is a secret in hexadecimal by its label in key logs, nil when it was not kept (tune.ssl.keylog).
	Secret(label string) []byte
}

// SecureConn is what the ConnState of a connection offers besides when there may be TLS on it.
type SecureConn interface {
	TLS() TLSConn // nil: clear text
	// Under is what the TLS of a client's connection runs under, nil for clear text and connections to servers.
	Under() *TLSListener
}

// ProxiedConn is what the ConnState of a client's connection offers besides.
type ProxiedConn interface {
	// ProxyHeader is what a PROXY header had besides addresses, and whether there was one.
	ProxyHeader() (values []byte, received bool)
}
