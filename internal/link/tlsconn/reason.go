package tlsconn

import (
	"crypto/tls"
	"errors"
	"strings"
)

// Reason is what OpenSSL would call the failure of a handshake: its number, with that of its library, and its text. code 0: it has
// no name of its own.
func Reason(err error) (code int, text string) {
	n, text := reason(err)
	if n == 0 {
		return 0, ""
	}
	return library | n, text
}

// library is the part of a number that says that it is one of SSL.
const library = 20 << 23

func reason(err error) (int, string) {
	var head tls.RecordHeaderError
	var alert tls.AlertError
	var cert *tls.CertificateVerificationError
	switch {
	case err == nil, err == ErrTimeout, err == ErrClosed:
		return 0, ""
	case errors.As(err, &head):
		return noRecord(&head)
	case errors.As(err, &cert):
		return 0x86, "certificate verify failed"
	case errors.As(err, &alert) || strings.HasPrefix(err.Error(), remote):
		return remoteAlert(err)
	}
	msg := err.Error()
	for _, r := range reasons {
		if strings.Contains(msg, r.part) {
			return r.code, r.text
		}
	}
	return 0, ""
}

const remote = "remote error: tls: "

// noRecord tells what was received in place of TLS.
func noRecord(e *tls.RecordHeaderError) (int, string) {
	switch h := string(e.RecordHeader[:]); {
	case strings.HasPrefix(h, "GET "), strings.HasPrefix(h, "POST"), strings.HasPrefix(h, "HEAD"), strings.HasPrefix(h, "PUT "):
		return 0x9c, "http request"
	case strings.HasPrefix(h, "CONNE"):
		return 0x9b, "https proxy request"
	case strings.Contains(e.Msg, "oversized"):
		return 0xc6, "packet length too long"
	}
	return 0x10b, "wrong version number"
}

// reasons are errors of crypto/tls by a part of their text, and what OpenSSL says then.
var reasons = []struct {
	part string
	code int
	text string
}{
	{"no cipher suite supported by both", 0xc1, "no shared cipher"},
	{"client offered only unsupported versions", 0x102, "unsupported protocol"},
	{"server selected unsupported protocol version", 0x102, "unsupported protocol"},
	{"client didn't provide a certificate", 0xc7, "peer did not return a certificate"},
	{"no ECDHE curve supported by both", 0x65, "no suitable key share"},
	{"no mutually supported curve", 0x65, "no suitable key share"},
	{"client requested unsupported application protocol", 0xeb, "no application protocol"},
	{"server selected unadvertised ALPN protocol", 0xeb, "no application protocol"},
	{"no certificates configured", 0xea, "callback failed"},
	{"peer doesn't support any of the certificate's signature algorithms", 0x76, "no suitable signature algorithm"},
	{"received unexpected handshake message", 0xf4, "unexpected message"},
	{"unexpected message", 0xf4, "unexpected message"},
	{"bad record MAC", 0x119, "decryption failed or bad record mac"},
	{"inappropriate protocol fallback", 0x175, "inappropriate fallback"},
	{"invalid signature by the", 0x7b, "bad signature"},
	{"error decoding message", 0x9f, "length mismatch"},
	{"x509: ", 0x86, "certificate verify failed"},
}

// alerts are the texts that OpenSSL has for alerts that the other side sent: number 1000 and above.
var alerts = map[string]struct {
	n    int
	text string
}{
	"unexpected message":              {10, "sslv3 alert unexpected message"},
	"bad record MAC":                  {20, "sslv3 alert bad record mac"},
	"record overflow":                 {22, "tlsv1 alert record overflow"},
	"handshake failure":               {40, "sslv3 alert handshake failure"},
	"bad certificate":                 {42, "sslv3 alert bad certificate"},
	"unsupported certificate":         {43, "sslv3 alert unsupported certificate"},
	"revoked certificate":             {44, "sslv3 alert certificate revoked"},
	"expired certificate":             {45, "sslv3 alert certificate expired"},
	"unknown certificate":             {46, "sslv3 alert certificate unknown"},
	"illegal parameter":               {47, "sslv3 alert illegal parameter"},
	"unknown certificate authority":   {48, "tlsv1 alert unknown ca"},
	"access denied":                   {49, "tlsv1 alert access denied"},
	"error decoding message":          {50, "tlsv1 alert decode error"},
	"error decrypting message":        {51, "tlsv1 alert decrypt error"},
	"protocol version not supported":  {70, "tlsv1 alert protocol version"},
	"insufficient security level":     {71, "tlsv1 alert insufficient security"},
	"internal error":                  {80, "tlsv1 alert internal error"},
	"inappropriate fallback":          {86, "tlsv1 alert inappropriate fallback"},
	"user canceled":                   {90, "tlsv1 alert user cancelled"},
	"no renegotiation":                {100, "tlsv1 alert no renegotiation"},
	"missing extension":               {109, "tlsv13 alert missing extension"},
	"unsupported extension":           {110, "tlsv1 unsupported extension"},
	"unrecognized name":               {112, "tlsv1 unrecognized name"},
	"bad certificate status response": {113, "tlsv1 bad certificate status response"},
	"unknown PSK identity":            {115, "tlsv1 alert unknown psk identity"},
	"certificate required":            {116, "tlsv13 alert certificate required"},
	"no application protocol":         {120, "tlsv1 alert no application protocol"},
	"encrypted client hello required": {121, "ech required"},
	"unobtainable certificate":        {111, "tlsv1 certificate unobtainable"},
	"bad certificate hash value":      {114, "tlsv1 bad certificate hash value"},
	"decryption failed":               {21, "tlsv1 alert decryption failed"},
	"decompression failure":           {30, "sslv3 alert decompression failure"},
	"export restriction":              {60, "tlsv1 alert export restriction"},
}

func remoteAlert(err error) (int, string) {
	msg := err.Error()
	if i := strings.Index(msg, "tls: "); i >= 0 {
		msg = msg[i+len("tls: "):]
	}
	a, ok := alerts[msg]
	if !ok {
		return 0, ""
	}
	return 1000 + a.n, a.text
}
