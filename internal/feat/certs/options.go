package certs

import (
	"crypto/tls"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"weir/internal/wire/tlsname"
)

// Verify is what "verify" asks of a peer.
type Verify uint8

// The settings of "verify"; a listener's default is none, that of a server required.
const (
	VerifyUnset Verify = iota
	VerifyNone
	VerifyOptional
	VerifyRequired
)

var verifyNames = []string{"none", "optional", "required"}

// Options are the settings of a bind or server line, or those of an entry of a crt-list. Zero values are not set.
type Options struct {
	ALPN         []string
	ALPNSet      bool // ALPN was given, or no-alpn
	Verify       Verify
	CAFile       string
	CAVerifyFile string // authorities that are not named to clients
	CRLFile      string
	Min, Max     uint16 // versions of the protocol
	No           versions
	Ciphers      []uint16 // of TLS 1.2 and below
	Curves       []tls.CurveID
	NoTickets    bool
	NoCANames    bool
	CAIgnore     Ignored // errors of authorities that do not matter
	CrtIgnore    Ignored // errors of the certificate itself
}

// versions is a set of versions of the protocol: bit 0 is SSLv3.
type versions uint8

var versionNames = []string{"SSLv3", "TLSv1.0", "TLSv1.1", "TLSv1.2", "TLSv1.3"}

// Ignored are errors of verification that do not matter, by their numbers.
type Ignored struct {
	All   bool
	Codes []int
}

// Has reports whether an error does not matter.
func (i *Ignored) Has(code int) bool { return i.All || slices.Contains(i.Codes, code) }

// Flags are the options without a value, Values those with one.
var (
	Flags = []string{
		"no-alpn", "no-tls-tickets", "no-ca-names", "no-sslv3", "no-tlsv10", "no-tlsv11", "no-tlsv12", "no-tlsv13",
		"force-sslv3", "force-tlsv10", "force-tlsv11", "force-tlsv12", "force-tlsv13", "prefer-client-ciphers", "tls-tickets",
	}
	Values = []string{
		"alpn", "verify", "ca-file", "ca-verify-file", "crl-file", "ssl-min-ver", "ssl-max-ver", "ciphers", "ciphersuites", "curves", "ecdhe",
		"ca-ignore-err", "crt-ignore-err",
	}
)

// Set applies one option. A warning tells of what it cannot do.
func (o *Options) Set(name, value string) (warning string, err error) {
	if v, ok := strings.CutPrefix(name, "no-"); ok && versionOf(v) >= 0 {
		o.No |= 1 << versionOf(v)
		return "", nil
	}
	if v, ok := strings.CutPrefix(name, "force-"); ok {
		n := versionOf(v)
		if n == 0 {
			return "", fmt.Errorf("SSLv3 is not served any more")
		}
		o.Min, o.Max = 0x0300+uint16(n), 0x0300+uint16(n)
		return "", nil
	}
	switch name {
	case "no-alpn":
		o.ALPN, o.ALPNSet = nil, true
	case "no-tls-tickets":
		o.NoTickets = true
	case "tls-tickets":
		o.NoTickets = false
	case "no-ca-names":
		o.NoCANames = true
	case "prefer-client-ciphers":
		return "'prefer-client-ciphers' has no effect: the order is chosen by what both sides do fast", nil
	case "alpn":
		return o.setALPN(value)
	case "verify":
		i := slices.Index(verifyNames, value)
		if i < 0 {
			return "", fmt.Errorf("'%s' is none of none, optional, required", value)
		}
		o.Verify = VerifyNone + Verify(i)
	case "ca-file":
		o.CAFile = value
	case "ca-verify-file":
		o.CAVerifyFile = value
	case "crl-file":
		o.CRLFile = value
	case "ssl-min-ver", "ssl-max-ver":
		return o.setBound(name, value)
	case "ciphers":
		if o.Ciphers, err = parseCiphers(value); err != nil {
			return "", err
		}
	case "ciphersuites":
		return checkSuites(value)
	case "curves", "ecdhe":
		o.Curves, warning, err = parseCurves(value)
		return warning, err
	case "ca-ignore-err":
		o.CAIgnore, err = parseIgnored(value)
		return "", err
	case "crt-ignore-err":
		o.CrtIgnore, err = parseIgnored(value)
		return "", err
	default:
		return "", fmt.Errorf("'%s' is no option of TLS here", name)
	}
	return "", nil
}

// versionOf is the index of a version called "tlsv12", -1 for another word.
func versionOf(s string) int {
	return slices.Index([]string{"sslv3", "tlsv10", "tlsv11", "tlsv12", "tlsv13"}, s)
}

func (o *Options) setBound(name, value string) (string, error) {
	n := slices.Index(versionNames, value)
	if n < 0 {
		return "", fmt.Errorf("'%s' is no version: %s are", value, strings.Join(versionNames, ", "))
	}
	warning := ""
	if n == 0 {
		if name == "ssl-max-ver" {
			return "", fmt.Errorf("SSLv3 is not served any more")
		}
		warning, n = "SSLv3 is not served any more: the lowest version is TLSv1.0", 1
	}
	if v := 0x0300 + uint16(n); name == "ssl-min-ver" {
		o.Min = v
	} else {
		o.Max = v
	}
	return warning, nil
}

// setALPN reads a list of protocols such as "h2,http/1.1".
func (o *Options) setALPN(value string) (warning string, err error) {
	list := strings.Split(value, ",")
	for _, p := range list {
		if p == "" || len(p) > 255 {
			return "", fmt.Errorf("'%s' is no list of protocol names of 1 to 255 bytes with commas between them", value)
		}
	}
	if i := slices.Index(list, "h2"); i >= 0 {
		list = slices.Delete(list, i, i+1)
		warning = "HTTP/2 is known to HAProxy, not in weir yet: 'h2' is not offered"
	}
	o.ALPN, o.ALPNSet = list, true
	return warning, nil
}

// curves are the groups for key exchange, by the names of OpenSSL.
var curves = map[string]tls.CurveID{
	"x25519": tls.X25519, "p-256": tls.CurveP256, "prime256v1": tls.CurveP256, "secp256r1": tls.CurveP256, "p-384": tls.CurveP384,
	"secp384r1": tls.CurveP384, "p-521": tls.CurveP521, "secp521r1": tls.CurveP521, "x25519mlkem768": tls.X25519MLKEM768,
}

// parseCurves reads groups with colons between them. Those that weir does not have are left out with a warning.
func parseCurves(value string) (list []tls.CurveID, warning string, err error) {
	var unknown []string
	for _, name := range strings.FieldsFunc(value, func(r rune) bool { return r == ':' || r == '/' }) {
		name = strings.TrimLeft(name, "*?")
		if c, ok := curves[strings.ToLower(name)]; ok {
			if !slices.Contains(list, c) {
				list = append(list, c)
			}
		} else {
			unknown = append(unknown, name)
		}
	}
	if len(list) == 0 {
		return nil, "", fmt.Errorf("'%s' has no curve that weir knows: X25519MLKEM768, X25519, P-256, P-384, P-521", value)
	}
	if len(unknown) > 0 {
		warning = "curves that weir does not have are left out: " + strings.Join(unknown, ", ")
	}
	return list, warning, nil
}

func parseIgnored(value string) (Ignored, error) {
	if value == "all" {
		return Ignored{All: true}, nil
	}
	var i Ignored
	for w := range strings.SplitSeq(value, ",") {
		n, err := strconv.Atoi(w)
		if err != nil {
			if n = tlsname.VerifyCode(w); n == 0 {
				return i, fmt.Errorf("'%s' is no error of verification: a number, a name such as X509_V_ERR_CERT_HAS_EXPIRED, or all", w)
			}
		}
		i.Codes = append(i.Codes, n)
	}
	return i, nil
}

// Inherit fills what o does not say from other.
func (o *Options) Inherit(from *Options) {
	if !o.ALPNSet {
		o.ALPN, o.ALPNSet = from.ALPN, from.ALPNSet
	}
	if o.Verify == VerifyUnset {
		o.Verify = from.Verify
	}
	or := func(p *string, v string) {
		if *p == "" {
			*p = v
		}
	}
	or(&o.CAFile, from.CAFile)
	or(&o.CAVerifyFile, from.CAVerifyFile)
	or(&o.CRLFile, from.CRLFile)
	if o.Min == 0 && o.Max == 0 && o.No == 0 {
		o.Min, o.Max, o.No = from.Min, from.Max, from.No
	}
	if o.Ciphers == nil {
		o.Ciphers = from.Ciphers
	}
	if o.Curves == nil {
		o.Curves = from.Curves
	}
	o.NoTickets = o.NoTickets || from.NoTickets
	o.NoCANames = o.NoCANames || from.NoCANames
	if !o.CAIgnore.All && o.CAIgnore.Codes == nil {
		o.CAIgnore = from.CAIgnore
	}
	if !o.CrtIgnore.All && o.CrtIgnore.Codes == nil {
		o.CrtIgnore = from.CrtIgnore
	}
}

// bounds are the lowest and the highest version; an error when none is left. Versions that are left out are at the ends:
// a gap between others cannot be.
func (o *Options) bounds() (lowest, highest uint16, err error) {
	lo, hi := 3, 4
	if o.Min != 0 {
		lo = int(o.Min - 0x0300)
	}
	if o.Max != 0 {
		hi = int(o.Max - 0x0300)
	}
	for lo <= hi && o.No&(1<<lo) != 0 {
		lo++
	}
	for hi >= lo && o.No&(1<<hi) != 0 {
		hi--
	}
	for v := lo; v <= hi; v++ {
		if o.No&(1<<v) != 0 {
			return 0, 0, fmt.Errorf("%s cannot be left out between others", versionNames[v])
		}
	}
	if lo > hi {
		return 0, 0, fmt.Errorf("no version of TLS is left")
	}
	return 0x0300 + uint16(lo), 0x0300 + uint16(hi), nil
}

// apply sets what does not depend on files.
func (o *Options) apply(c *tls.Config) (err error) {
	c.NextProtos = o.ALPN
	if c.MinVersion, c.MaxVersion, err = o.bounds(); err != nil {
		return err
	}
	c.CipherSuites, c.CurvePreferences, c.SessionTicketsDisabled = o.Ciphers, o.Curves, o.NoTickets
	c.DynamicRecordSizingDisabled = true // the connection bounds its records itself
	return nil
}
