// Package tlsname has the names that OpenSSL gives to what TLS negotiates and to what certificates are made with: those that
// configurations, logs and PROXY headers use. Numbers are those of the protocol (IANA).
package tlsname

import "crypto/x509"

// Version is the name of a protocol version, "" for an unknown one.
func Version(v uint16) string {
	switch v {
	case 0x0300:
		return "SSLv3"
	case 0x0301:
		return "TLSv1"
	case 0x0302:
		return "TLSv1.1"
	case 0x0303:
		return "TLSv1.2"
	case 0x0304:
		return "TLSv1.3"
	}
	return ""
}

// suite is a cipher suite.
type suite struct {
	name    string
	keySize int // bits of the symmetric key
	alg     int // bits of the algorithm, which is more where keys are weakened
}

var suites = map[uint16]suite{
	0x0005: {"RC4-SHA", 128, 128},
	0x000a: {"DES-CBC3-SHA", 112, 168},
	0x002f: {"AES128-SHA", 128, 128},
	0x0035: {"AES256-SHA", 256, 256},
	0x003c: {"AES128-SHA256", 128, 128},
	0x003d: {"AES256-SHA256", 256, 256},
	0x009c: {"AES128-GCM-SHA256", 128, 128},
	0x009d: {"AES256-GCM-SHA384", 256, 256},
	0xc007: {"ECDHE-ECDSA-RC4-SHA", 128, 128},
	0xc009: {"ECDHE-ECDSA-AES128-SHA", 128, 128},
	0xc00a: {"ECDHE-ECDSA-AES256-SHA", 256, 256},
	0xc011: {"ECDHE-RSA-RC4-SHA", 128, 128},
	0xc012: {"ECDHE-RSA-DES-CBC3-SHA", 112, 168},
	0xc013: {"ECDHE-RSA-AES128-SHA", 128, 128},
	0xc014: {"ECDHE-RSA-AES256-SHA", 256, 256},
	0xc023: {"ECDHE-ECDSA-AES128-SHA256", 128, 128},
	0xc024: {"ECDHE-ECDSA-AES256-SHA384", 256, 256},
	0xc027: {"ECDHE-RSA-AES128-SHA256", 128, 128},
	0xc028: {"ECDHE-RSA-AES256-SHA384", 256, 256},
	0xc02b: {"ECDHE-ECDSA-AES128-GCM-SHA256", 128, 128},
	0xc02c: {"ECDHE-ECDSA-AES256-GCM-SHA384", 256, 256},
	0xc02f: {"ECDHE-RSA-AES128-GCM-SHA256", 128, 128},
	0xc030: {"ECDHE-RSA-AES256-GCM-SHA384", 256, 256},
	0xcca8: {"ECDHE-RSA-CHACHA20-POLY1305", 256, 256},
	0xcca9: {"ECDHE-ECDSA-CHACHA20-POLY1305", 256, 256},
	0x1301: {"TLS_AES_128_GCM_SHA256", 128, 128},
	0x1302: {"TLS_AES_256_GCM_SHA384", 256, 256},
	0x1303: {"TLS_CHACHA20_POLY1305_SHA256", 256, 256},
}

// Cipher is the name of a cipher suite that weir can use, "" for another one.
func Cipher(id uint16) string { return suites[id].name }

// AnyCipher is the name of a cipher suite that OpenSSL knows, "" for another one.
func AnyCipher(id uint16) string {
	if s, ok := suites[id]; ok {
		return s.name
	}
	return others[id]
}

// Bits are the secret bits of a cipher suite's key and the bits of its algorithm.
func Bits(id uint16) (secret, algorithm int) { return suites[id].keySize, suites[id].alg }

// Signature is the name of the algorithm that a certificate is signed with.
func Signature(a x509.SignatureAlgorithm) string {
	switch a {
	case x509.MD5WithRSA:
		return "RSA-MD5"
	case x509.SHA1WithRSA:
		return "RSA-SHA1"
	case x509.SHA256WithRSA:
		return "RSA-SHA256"
	case x509.SHA384WithRSA:
		return "RSA-SHA384"
	case x509.SHA512WithRSA:
		return "RSA-SHA512"
	case x509.SHA256WithRSAPSS, x509.SHA384WithRSAPSS, x509.SHA512WithRSAPSS:
		return "RSASSA-PSS"
	case x509.ECDSAWithSHA1:
		return "ecdsa-with-SHA1"
	case x509.ECDSAWithSHA256:
		return "ecdsa-with-SHA256"
	case x509.ECDSAWithSHA384:
		return "ecdsa-with-SHA384"
	case x509.ECDSAWithSHA512:
		return "ecdsa-with-SHA512"
	case x509.PureEd25519:
		return "ED25519"
	}
	return ""
}

// Group is the name of a key exchange group, "" for an unknown one.
func Group(id uint16) string {
	switch id {
	case 23:
		return "prime256v1"
	case 24:
		return "secp384r1"
	case 25:
		return "secp521r1"
	case 29:
		return "X25519"
	case 30:
		return "X448"
	case 4587:
		return "SecP256r1MLKEM768"
	case 4588:
		return "X25519MLKEM768"
	case 4589:
		return "SecP384r1MLKEM1024"
	}
	return ""
}
