package model

import (
	"errors"
	"syscall"
)

// ConnError is what went wrong with a connection, numbered as the reference numbers it (manual 7.3.3, fc_err_str;
// from 44 on the manual is one behind).
type ConnError uint8

// The errors that weir itself tells apart.
const (
	ConnOK         ConnError = 0
	ConnSockError  ConnError = 6
	ProxyEmpty     ConnError = 11
	ProxyAbort     ConnError = 12
	ProxyTimeout   ConnError = 13
	ProxyTruncated ConnError = 14
	ProxyNotHeader ConnError = 15
	ProxyBadHeader ConnError = 16
	ProxyBadProto  ConnError = 17
	CIPEmpty       ConnError = 18
	CIPAbort       ConnError = 19
	CIPTimeout     ConnError = 20
	CIPTruncated   ConnError = 21
	CIPBadMagic    ConnError = 22
	CIPBadProto    ConnError = 23
	TLSEmpty       ConnError = 24
	TLSAbort       ConnError = 25
	TLSTimeout     ConnError = 26
	TLSTooMany     ConnError = 27
	TLSCAFail      ConnError = 30
	TLSCertFail    ConnError = 31
	TLSMismatch    ConnError = 32
	TLSMismatchSNI ConnError = 33
	TLSHandshake   ConnError = 34
	Socks4Send     ConnError = 39
	Socks4Recv     ConnError = 40
	Socks4Deny     ConnError = 41
	Socks4Abort    ConnError = 42
	TLSFatal       ConnError = 43
	ConnRefused    ConnError = 47
	ConnReset      ConnError = 48
)

// Name is the reference's name of the error, "" for none.
func (e ConnError) Name() string {
	if int(e) >= len(connErrors) {
		return ""
	}
	return connErrors[e].name
}

// Text is the reference's text.
func (e ConnError) Text() string {
	if int(e) >= len(connErrors) {
		return ""
	}
	return connErrors[e].text
}

// ConnErrorOf is the error that a failure of a socket stands for.
func ConnErrorOf(err error) ConnError {
	switch {
	case err == nil:
		return ConnOK
	case errors.Is(err, syscall.ECONNREFUSED):
		return ConnRefused
	case errors.Is(err, syscall.ECONNRESET):
		return ConnReset
	}
	for i, e := range [...]syscall.Errno{syscall.ENETUNREACH, syscall.ENOMEM, syscall.EBADF, syscall.EFAULT, syscall.EINVAL, syscall.ENOTCONN, syscall.ENOTSOCK, syscall.ENOBUFS, syscall.EPIPE} {
		if errors.Is(err, e) {
			return ConnReset + 1 + ConnError(i)
		}
	}
	return ConnSockError
}

var connErrors = [...]struct{ name, text string }{
	{"", "Success"},
	{"CONF_FDLIM", "Reached configured maxconn value"},
	{"PROC_FDLIM", "Too many sockets on the process"},
	{"SYS_FDLIM", "Too many sockets on the system"},
	{"SYS_MEMLIM", "Out of system buffers"},
	{"NOPROTO", "Protocol or address family not supported"},
	{"SOCK_ERR", "General socket error"},
	{"PORT_RANGE", "Source port range exhausted"},
	{"CANT_BIND", "Can't bind to source address"},
	{"FREE_PORTS", "Out of local source ports on the system"},
	{"ADDR_INUSE", "Local source address already in use"},
	{"PRX_EMPTY", "Connection closed while waiting for PROXY protocol header"},
	{"PRX_ABORT", "Connection error while waiting for PROXY protocol header"},
	{"PRX_TIMEOUT", "Timeout while waiting for PROXY protocol header"},
	{"PRX_TRUNCATED", "Truncated PROXY protocol header received"},
	{"PRX_NOT_HDR", "Received something which does not look like a PROXY protocol header"},
	{"PRX_BAD_HDR", "Received an invalid PROXY protocol header"},
	{"PRX_BAD_PROTO", "Received an unhandled protocol in the PROXY protocol header"},
	{"CIP_EMPTY", "Connection closed while waiting for NetScaler Client IP header"},
	{"CIP_ABORT", "Connection error while waiting for NetScaler Client IP header"},
	{"CIP_TIMEOUT", "Timeout while waiting for a NetScaler Client IP header"},
	{"CIP_TRUNCATED", "Truncated NetScaler Client IP header received"},
	{"CIP_BAD_MAGIC", "Received an invalid NetScaler Client IP magic number"},
	{"CIP_BAD_PROTO", "Received an unhandled protocol in the NetScaler Client IP header"},
	{"SSL_EMPTY", "Connection closed during SSL handshake"},
	{"SSL_ABORT", "Connection error during SSL handshake"},
	{"SSL_TIMEOUT", "Timeout during SSL handshake"},
	{"SSL_TOO_MANY", "Too many SSL connections"},
	{"SSL_NO_MEM", "Out of memory when initializing an SSL connection"},
	{"SSL_RENEG", "Rejected a client-initiated SSL renegotiation attempt"},
	{"SSL_CA_FAIL", "SSL client CA chain cannot be verified"},
	{"SSL_CRT_FAIL", "SSL client certificate not trusted"},
	{"SSL_MISMATCH", "Server presented an SSL certificate different from the configured one"},
	{"SSL_MISMATCH_SNI", "Server presented an SSL certificate different from the expected one"},
	{"SSL_HANDSHAKE", "SSL handshake failure"},
	{"SSL_HANDSHAKE_HB", "SSL handshake failure after heartbeat"},
	{"SSL_KILLED_HB", "Stopped a TLSv1 heartbeat attack (CVE-2014-0160)"},
	{"SSL_NO_TARGET", "Attempt to use SSL on an unknown target (internal error)"},
	{"SSL_EARLY_FAILED", "Server refused early data"},
	{"SOCKS4_SEND", "SOCKS4 Proxy write error during handshake"},
	{"SOCKS4_RECV", "SOCKS4 Proxy read error during handshake"},
	{"SOCKS4_DENY", "SOCKS4 Proxy deny the request"},
	{"SOCKS4_ABORT", "SOCKS4 Proxy handshake aborted by server"},
	{"SSL_FATAL", "SSL fatal error"},
	{"", ""}, // not documented
	{"REVERSE", "Reverse connect failure"},
	{"POLLERR", "Poller reported POLLERR"},
	{"EREFUSED", "ECONNREFUSED returned by OS"},
	{"ERESET", "ECONNRESET returned by OS"},
	{"EUNREACH", "ENETUNREACH returned by OS"},
	{"ENOMEM", "ENOMEM returned by OS"},
	{"EBADF", "EBADF returned by OS"},
	{"EFAULT", "EFAULT returned by OS"},
	{"EINVAL", "EINVAL returned by OS"},
	{"ENCONN", "ENCONN returned by OS"},
	{"ENSOCK", "ENSOCK returned by OS"},
	{"ENOBUFS", "ENOBUFS returned by OS"},
	{"EPIPE", "EPIPE returned by OS"},
}
