// Package tlskw has the directives about TLS: options of bind and server lines, settings of the global section, stores of
// certificates (manual 3.1, 3.2, 5.1, 5.2 and 12.7).
//
// Lines are collected while the configuration is parsed; what they name is read in the check stage, when every default is known.
package tlskw

import (
	"strings"

	"weir/internal/feat/certs"
	"weir/internal/lang/config"
	"weir/internal/model"
)

func init() {
	config.AddCheck(config.Check{Name: "TLS", Order: 103, Run: check})
}

func root(p *config.Parser) *model.Config { return p.Root().(*model.Config) }

// check makes the TLS side of all bind and server lines.
func check(p *config.Parser) {
	cfg := root(p)
	for _, px := range cfg.Proxies {
		for _, b := range px.Binds {
			if c := bindOf.Get(&b.Slots); c != nil {
				c.build(p, cfg, b)
			}
		}
		for _, s := range px.Servers {
			if c := serverOf.Get(&s.Slots); c != nil {
				c.build(p, cfg, s)
			}
		}
	}
}

// helps are the one-line texts of the options that bind and server lines share.
var helps = map[string]string{
	"no-alpn": "no choice of a protocol by TLS", "no-tls-tickets": "no resumption by tickets", "tls-tickets": "undoes no-tls-tickets",
	"no-ca-names": "clients are not told which authorities are known", "prefer-client-ciphers": "for old configurations",
	"no-sslv3": "without SSLv3", "no-tlsv10": "without TLSv1.0", "no-tlsv11": "without TLSv1.1", "no-tlsv12": "without TLSv1.2", "no-tlsv13": "without TLSv1.3",
	"force-sslv3": "SSLv3 only", "force-tlsv10": "TLSv1.0 only", "force-tlsv11": "TLSv1.1 only", "force-tlsv12": "TLSv1.2 only", "force-tlsv13": "TLSv1.3 only",
	"alpn": "protocols that TLS offers", "verify": "whether the peer's certificate is asked for and verified", "ca-file": "authorities of the peers' certificates",
	"ca-verify-file": "further authorities, which clients are not told of", "crl-file": "certificates that are revoked", "ssl-min-ver": "lowest version of TLS",
	"ssl-max-ver": "highest version of TLS", "ciphers": "ciphers up to TLSv1.2", "ciphersuites": "suites of TLSv1.3", "curves": "groups for the exchange of keys",
	"ecdhe": "group for the exchange of keys", "ca-ignore-err": "errors of authorities that do not matter", "crt-ignore-err": "errors of certificates that do not matter",
}

// set applies an option to o, with messages about its value.
func set(l *config.Line, o *certs.Options, name, value string) {
	warning, err := o.Set(name, value)
	switch {
	case err != nil:
		l.Errorf(0, "'%s': %s.", name, err)
	case warning != "":
		l.Warnf(0, "'%s': %s.", name, warning)
	}
}

// value is the value of an option, a path where it names a file.
func value(l *config.Line, name string) string {
	switch name {
	case "ca-file", "ca-verify-file", "crl-file":
		return under(l, folders(l).ca, l.Arg(0))
	}
	return l.Arg(0)
}

// settings are what the global section says about TLS.
type settings struct {
	crt, key, ca             string // where relative names start
	bind                     certs.ListenerOptions
	server                   certs.Options
	noServerVerify           bool // ssl-server-verify none
	capture                  int
	hardMaxRecord, maxRecord int
	keyLog                   bool
}

var settingsKey = &model.SlotKey[*settings]{Name: "TLS of the global section"}

// settingsOf returns the settings of a configuration.
func settingsOf(cfg *model.Config) *settings {
	g := settingsKey.Get(&cfg.Slots)
	if g == nil {
		g = new(settings)
		settingsKey.Set(&cfg.Slots, g)
	}
	return g
}

func folders(l *config.Line) *settings { return settingsOf(root(l.Parser())) }

// under resolves a name: below dir unless it is absolute or none of a file.
func under(l *config.Line, dir, name string) string {
	if name == "" || name[0] == '@' {
		return name
	}
	if dir != "" && name[0] != '/' {
		name = strings.TrimSuffix(dir, "/") + "/" + name
	}
	return l.Path(name)
}
