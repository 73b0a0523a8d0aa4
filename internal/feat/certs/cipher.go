package certs

import (
	"crypto/tls"
	"fmt"
	"slices"
	"strings"

	"weir/internal/wire/tlsname"
)

// The list of ciphers that OpenSSL reads: names and classes with colons between them, "+" between classes that all apply,
// and before them "!" (never), "-" (not for the moment) or "+" (to the end).

// class tells whether a suite, by OpenSSL's name, belongs to a class.
var classes = map[string]func(name string) bool{
	"ALL": func(string) bool { return true }, "COMPLEMENTOFALL": none, "DEFAULT": modern, "COMPLEMENTOFDEFAULT": none,
	"HIGH": strong, "MEDIUM": has("RC4"), "LOW": none, "EXPORT": none, "EXP": none, "aNULL": none, "eNULL": none, "NULL": none,
	"kRSA": plainRSA, "RSA": plainRSA, "kDHE": none, "kEDH": none, "DH": none, "DHE": none, "EDH": none, "ADH": none, "AECDH": none,
	"kECDHE": has("ECDHE-"), "kEECDH": has("ECDHE-"), "ECDHE": has("ECDHE-"), "EECDH": has("ECDHE-"), "ECDH": has("ECDHE-"),
	"aRSA": func(n string) bool { return !strings.Contains(n, "ECDSA") }, "aECDSA": has("ECDSA"), "ECDSA": has("ECDSA"), "aDSS": none, "DSS": none,
	"AES": has("AES"), "AES128": has("AES128"), "AES256": has("AES256"), "AESGCM": has("GCM"), "AESCCM": none, "AESCCM8": none,
	"CHACHA20": has("CHACHA20"), "3DES": has("DES-CBC3"), "DES": none, "RC4": has("RC4"), "RC2": none, "IDEA": none, "SEED": none,
	"CAMELLIA": none, "CAMELLIA128": none, "CAMELLIA256": none, "ARIA": none, "ARIA128": none, "ARIA256": none, "MD5": none,
	"SHA1": oldSHA, "SHA": oldSHA, "SHA256": suffix("-SHA256"), "SHA384": suffix("-SHA384"),
	"PSK": none, "SRP": none, "kPSK": none, "aPSK": none, "kDHEPSK": none, "kECDHEPSK": none, "kRSAPSK": none, "GOST94": none, "aGOST": none, "kGOST": none,
	"TLSv1.2": tls12, "TLSv1.0": oldSHA, "TLSv1": oldSHA, "SSLv3": oldSHA, "FIPS": strong, "SUITEB128": none, "SUITEB192": none,
}

func none(string) bool { return false }
func has(part string) func(string) bool {
	return func(n string) bool { return strings.Contains(n, part) }
}
func suffix(end string) func(string) bool {
	return func(n string) bool { return strings.HasSuffix(n, end) }
}
func oldSHA(n string) bool   { return strings.HasSuffix(n, "-SHA") }
func tls12(n string) bool    { return !oldSHA(n) }
func strong(n string) bool   { return !strings.Contains(n, "RC4") && !strings.Contains(n, "DES-CBC3") }
func plainRSA(n string) bool { return !strings.HasPrefix(n, "ECDHE-") }
func modern(n string) bool   { return strong(n) && strings.HasPrefix(n, "ECDHE-") }

// known are the suites of TLS 1.2 and below that crypto/tls has, those first that it prefers.
var known = func() (list []uint16) {
	for _, s := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		if s.ID>>8 != 0x13 {
			list = append(list, s.ID)
		}
	}
	return list
}()

// parseCiphers reads OpenSSL's list. The order is that of crypto/tls, whatever the list says.
func parseCiphers(value string) ([]uint16, error) {
	var list, never []uint16
	for word := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ':' || r == ',' || r == ' ' || r == ';' }) {
		if word[0] == '@' { // strength and levels of security
			continue
		}
		sign := byte(0)
		if strings.IndexByte("!-+", word[0]) >= 0 {
			sign, word = word[0], word[1:]
		}
		fits, ok := classOf(word)
		if !ok { // of other programs, or of no use: OpenSSL leaves it out as well
			continue
		}
		for _, id := range known {
			if !fits(tlsname.Cipher(id)) {
				continue
			}
			i := slices.Index(list, id)
			switch {
			case sign == '!':
				never = append(never, id)
				fallthrough
			case sign == '-':
				if i >= 0 {
					list = slices.Delete(list, i, i+1)
				}
			case sign == '+': // the order is not ours
			case i < 0 && !slices.Contains(never, id):
				list = append(list, id)
			}
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("'%s' has no cipher that weir can use for TLSv1.2", value)
	}
	return list, nil
}

// classOf returns what belongs to a name or to classes joined by "+"; false for an unknown one.
func classOf(word string) (func(string) bool, bool) {
	var parts []func(string) bool
	for one := range strings.SplitSeq(word, "+") {
		if f, ok := classes[one]; ok {
			parts = append(parts, f)
		} else if slices.ContainsFunc(known, func(id uint16) bool { return tlsname.Cipher(id) == one }) {
			parts = append(parts, func(n string) bool { return n == one })
		} else {
			return nil, false
		}
	}
	return func(n string) bool {
		for _, f := range parts {
			if !f(n) {
				return false
			}
		}
		return true
	}, true
}

// checkSuites looks at a list of suites of TLS 1.3, among which nobody can choose.
func checkSuites(value string) (warning string, err error) {
	all := []string{"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"}
	names := strings.Split(value, ":")
	some := false
	for _, n := range names {
		some = some || slices.Contains(all, n)
	}
	if !some {
		return "", fmt.Errorf("'%s' has no suite of TLSv1.3 that weir has: %s", value, strings.Join(all, ":"))
	}
	for _, n := range all {
		if !slices.Contains(names, n) {
			return "the suites of TLSv1.3 cannot be chosen: all of " + strings.Join(all, ":") + " are offered", nil
		}
	}
	return "", nil
}
