package fetchhttp

import (
	"bytes"
	"fmt"

	"weir/internal/base/ascii"
	"weir/internal/feat/userlist"
	"weir/internal/lang/sample"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

func init() {
	const s, t = model.TypeStr, model.TypeBool
	add(
		fetch{names: names("http_auth"), args: "user list", out: t, places: reqPlaces, help: "user and password are right", check: checkUserlist, get: authOK},
		fetch{names: names("http_auth_group"), args: "user list", out: s, places: reqPlaces, help: "the user, if the password is right; in ACLs its groups", check: checkUserlist, get: authUserOf, next: nextGroup},
		fetch{names: names("http_auth_user"), out: s, places: reqPlaces, help: "user name of the request", get: authUser},
		fetch{names: names("http_auth_pass"), out: s, places: reqPlaces, help: "password of the request", get: authPass},
		fetch{names: names("http_auth_type"), out: s, places: reqPlaces, help: "authentication scheme: Basic or Bearer", get: authType},
		fetch{names: names("http_auth_bearer"), args: nameArgs, out: s, places: reqPlaces, help: "token of the Bearer scheme", get: authBearer},
	)
}

// checkUserlist finds the list, which may stand further down in the configuration.
func checkUserlist(c *sample.ArgCheck, a []sample.Arg) error {
	if a[0].Str == "" {
		return fmt.Errorf("the name of a userlist is missing")
	}
	return c.Scope.Defer(func(cfg *model.Config) error {
		l := userlist.Find(cfg, a[0].Str)
		if l == nil {
			return fmt.Errorf("there is no userlist '%s'", a[0].Str)
		}
		a[0].Data = l
		return nil
	})
}

// Scheme is a way to authenticate.
type scheme uint8

const (
	noScheme scheme = iota
	basic
	bearer
)

var schemeNames = [...]string{basic: "Basic", bearer: "Bearer"}

// authorization cuts the first value of the Authorization field, or of Proxy-Authorization where a browser takes the proxy for
// one (option http-use-proxy-header), into scheme and credentials.
func authorization(tx *model.Txn) (kind scheme, rest []byte) {
	m := request(tx)
	if m == nil {
		return noScheme, nil
	}
	w := values{m: m, name: "authorization"}
	if toProxy(tx, m) {
		w.name = "proxy-authorization"
	}
	if !w.next() {
		return noScheme, nil
	}
	i := bytes.IndexByte(w.v, ' ')
	if i < 0 {
		return noScheme, nil
	}
	for rest = w.v[i:]; len(rest) > 0 && rest[0] == ' '; {
		rest = rest[1:]
	}
	switch {
	case ascii.EqualFoldString(w.v[:i], schemeNames[basic]):
		return basic, rest
	case ascii.EqualFoldString(w.v[:i], schemeNames[bearer]):
		return bearer, rest
	}
	return noScheme, nil
}

// toProxy reports whether the request was sent to a proxy.
func toProxy(tx *model.Txn, m *msg.Message) bool {
	fe := tx.S.Frontend()
	return fe != nil && fe.Has(model.OptHTTPUseProxyHeader) && len(m.Target) > 0 && m.Target[0] != '/' && m.Target[0] != '*'
}

// credentials decodes "user:password" of the Basic scheme into the scratch memory. Both end where a zero byte stands.
func credentials(tx *model.Txn) (user, password []byte, ok bool) {
	kind, text := authorization(tx)
	if kind != basic {
		return nil, nil, false
	}
	b, ok := appendDecoded(tx.Scratch.Grab(), text)
	if !ok {
		return nil, nil, false
	}
	if b, ok = tx.Scratch.Keep(b); !ok {
		return nil, nil, false
	}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return bytes.Cut(b, []byte{':'})
}

// appendDecoded decodes base64 in groups of four, each of which may be padded, as the reference does.
func appendDecoded(dst, src []byte) ([]byte, bool) {
	if len(src)%4 != 0 {
		return dst, false
	}
	for ; len(src) > 0; src = src[4:] {
		var n uint32
		pads := 0
		for _, c := range src[:4] {
			v, ok := digit64(c)
			switch {
			case c == '=':
				pads++
			case !ok || pads > 0:
				return dst, false
			}
			n = n<<6 | v
		}
		if pads < 3 {
			dst = append(dst, byte(n>>16))
		}
		if pads < 2 {
			dst = append(dst, byte(n>>8))
		}
		if pads < 1 {
			dst = append(dst, byte(n))
		}
	}
	return dst, true
}

// digit64 is the value of a digit of base64.
func digit64(c byte) (uint32, bool) {
	switch {
	case c >= 'A' && c <= 'Z':
		return uint32(c - 'A'), true
	case c >= 'a' && c <= 'z':
		return uint32(c-'a') + 26, true
	case c >= '0' && c <= '9':
		return uint32(c-'0') + 52, true
	case c == '+':
		return 62, true
	case c == '/':
		return 63, true
	}
	return 0, false
}

func authUser(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	user, _, ok := credentials(tx)
	v.SetStr(user)
	return ok
}

func authPass(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	_, password, ok := credentials(tx)
	v.SetStr(password)
	return ok
}

// authType names the scheme; Basic only with credentials that can be read.
func authType(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	kind, _ := authorization(tx)
	if kind == noScheme {
		return false
	}
	if kind == basic {
		if _, _, ok := credentials(tx); !ok {
			return false
		}
	}
	b, ok := tx.Scratch.Keep(append(tx.Scratch.Grab(), schemeNames[kind]...))
	v.SetStr(b)
	return ok
}

// authBearer returns the token of the Authorization field. In a field that is named it is all that follows the scheme; a
// field that is not there gives an empty token.
func authBearer(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	if len(a) == 0 {
		kind, token := authorization(tx)
		v.SetStr(token)
		return kind == bearer
	}
	m := request(tx)
	if m == nil || a[0].Str == "" {
		return false
	}
	v.SetStr(nil)
	w := values{m: m, name: a[0].Str}
	if !w.next() {
		return true
	}
	if !ascii.HasPrefixFold(w.v, schemeNames[bearer]) {
		return false
	}
	token := w.v[len(schemeNames[bearer]):]
	if len(token) > 0 && token[0] != ' ' {
		return false
	}
	for len(token) > 0 && token[0] == ' ' {
		token = token[1:]
	}
	v.SetStr(token)
	return true
}

// authenticated returns the user whose name and password the request has; known is false without credentials.
func authenticated(tx *model.Txn, a []sample.Arg) (u *userlist.User, known bool) {
	list, ok := a[0].Data.(*userlist.List)
	if !ok {
		return nil, false
	}
	user, password, ok := credentials(tx)
	if !ok {
		return nil, false
	}
	if !list.Heavy(user, password) {
		return list.Check(user, password), true
	}
	return checkHash(tx, list, user, password)
}

// checkHash is Check where a hash must be worked out, which takes milliseconds.
func checkHash(tx *model.Txn, list *userlist.List, user, password []byte) (u *userlist.User, known bool) {
	done := tx.Steps.Do(func() { u = list.Check(user, password) })
	return u, done
}

func authOK(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	u, known := authenticated(tx, a)
	v.SetBool(u != nil)
	return known
}

func authUserOf(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	u, _ := authenticated(tx, a)
	if u == nil {
		return false
	}
	b, ok := tx.Scratch.Keep(append(tx.Scratch.Grab(), u.Name...))
	v.SetStr(b)
	return ok
}

// nextGroup walks the groups of the user: what ACLs compare with.
func nextGroup(tx *model.Txn, a []sample.Arg, v *model.Value, state *int) bool {
	u, _ := authenticated(tx, a)
	if u == nil || *state >= len(u.Groups) {
		return false
	}
	b, ok := tx.Scratch.Keep(append(tx.Scratch.Grab(), u.Groups[*state]...))
	*state++
	v.SetStr(b)
	return ok
}
