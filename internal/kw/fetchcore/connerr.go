package fetchcore

import "weir/internal/model"

// connErrors are the reference's names and texts of what can go wrong with a connection, by number (manual 7.3.3,
// fc_err_str).
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

// connError is the name and the text of what went wrong with a connection.
func connError(c model.ConnState) (name, text string) {
	n := c.ErrCode()
	if n < 0 || n >= len(connErrors) {
		return "", c.ErrText()
	}
	return connErrors[n].name, connErrors[n].text
}
