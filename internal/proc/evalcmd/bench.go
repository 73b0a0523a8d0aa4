package evalcmd

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"weir/internal/lang/eval"
	"weir/internal/lang/sample"
	"weir/internal/lang/vars"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

// bench is what an expression is evaluated on.
type bench struct {
	o        *options
	cfg      *model.Config // nil without -f
	readFile func(name string) ([]byte, error)

	tx    *model.Txn
	s     *eval.Stream
	scope *sample.Scope
}

// prepare builds the transaction.
func (b *bench) prepare() error {
	b.tx, b.s = eval.New(b.cfg)
	b.scope = &sample.Scope{Conf: b.cfg}
	if b.cfg != nil {
		rest(b.cfg)
		if err := b.choose(); err != nil {
			return err
		}
	}
	b.s.Src, b.s.Dst = b.o.src, b.o.dst
	if err := b.request(); err != nil {
		return err
	}
	if err := b.response(); err != nil {
		return err
	}
	for _, v := range b.o.vars {
		if err := b.set(v); err != nil {
			return fmt.Errorf("option --var: %w", err)
		}
	}
	return nil
}

// choose finds the section that the expression stands in: the named one, else the first frontend.
func (b *bench) choose() error {
	for _, p := range b.cfg.Proxies {
		if b.o.proxy != "" && p.Name != b.o.proxy || b.o.proxy == "" && !p.IsFrontend() {
			continue
		}
		b.scope.Proxy = p
		if p.IsFrontend() {
			b.s.Fe = p
			if b.s.Be = b.cfg.Backend(p.DefaultBackend); b.s.Be == nil && p.IsBackend() {
				b.s.Be = p
			}
		} else {
			b.s.Be = p
		}
		return nil
	}
	if b.o.proxy != "" {
		return fmt.Errorf("there is no section '%s' in the configuration", b.o.proxy)
	}
	return nil
}

// body is a body given as text or as @file.
func (b *bench) body(v string) ([]byte, error) {
	name, isFile := strings.CutPrefix(v, "@")
	if !isFile {
		return []byte(v), nil
	}
	return b.readFile(name)
}

// request makes the request.
func (b *bench) request() error {
	m := &msg.Message{Major: 1, Minor: 1}
	m.SetMethod([]byte(b.o.method))
	m.SetTarget([]byte(b.o.url))
	body, err := b.fill(m, b.o.fields, b.o.body)
	b.tx.Req, b.s.Bodies[model.DirReq] = m, body
	r := &b.s.Rec
	r.HTTP, r.Method, r.URI, r.Version = true, m.MethodName, m.Target, [2]uint8{1, 1}
	r.Client, r.ClientLocal = b.o.src, b.o.dst
	r.Request = b.s.Date
	if b.s.Fe != nil {
		r.Frontend, r.Backend, r.ServerName = b.s.Fe.Name, b.s.Fe.Name, "<NOSRV>"
	}
	if b.s.Be != nil {
		r.Backend = b.s.Be.Name
	}
	return err
}

// response makes the response, if there is one.
func (b *bench) response() error {
	if b.o.status == 0 {
		return nil
	}
	m := &msg.Message{IsResponse: true, Major: 1, Minor: 1}
	m.SetStatus(b.o.status)
	body, err := b.fill(m, b.o.resFields, b.o.resBody)
	b.tx.Res, b.tx.Dir, b.s.Bodies[model.DirRes] = m, model.DirRes, body
	b.s.Rec.Status = b.o.status
	return err
}

// fill adds fields and reads the body.
func (b *bench) fill(m *msg.Message, fields [][2]string, text string) ([]byte, error) {
	for _, f := range fields {
		m.AddString(f[0], f[1])
	}
	body, err := b.body(text)
	if len(body) > 0 {
		m.Framing, m.HasCL, m.ContentLength = msg.Length, true, int64(len(body))
	}
	return body, err
}

// set sets the variable of a --var.
func (b *bench) set(v variable) error {
	n, err := vars.Parse(v.name)
	if err != nil {
		return err
	}
	value, err := v.parse()
	switch {
	case err != nil:
		return err
	case !vars.Reachable(b.tx, n):
		return fmt.Errorf("variable '%s' does not exist here: its scope is that of another side, or of a parent stream", v.name)
	case !vars.Set(b.tx, n, &value):
		return fmt.Errorf("variable '%s' needs more memory than tune.vars allows", v.name)
	}
	return nil
}

// parse reads the value.
func (v variable) parse() (out model.Value, err error) {
	switch v.kind {
	case "int":
		n, err := strconv.ParseInt(v.value, 10, 64)
		if err != nil {
			return out, fmt.Errorf("'%s' is no integer", v.value)
		}
		out.SetInt(n)
	case "bool":
		is, err := strconv.ParseBool(v.value)
		if err != nil {
			return out, fmt.Errorf("'%s' is no boolean", v.value)
		}
		out.SetBool(is)
	case "ip":
		a, err := netip.ParseAddr(v.value)
		if err != nil {
			return out, fmt.Errorf("'%s' is no IP address", v.value)
		}
		out.SetIP(a)
	case "bin":
		p, err := hex.DecodeString(v.value)
		if err != nil {
			return out, fmt.Errorf("'%s' is not made of pairs of hexadecimal digits", v.value)
		}
		out.SetBin(p)
	case "meth":
		p := []byte(v.value)
		out.Type, out.B, out.Num = model.TypeMeth, p, int64(msg.LookupMethod(p))
	default:
		out.SetStr([]byte(v.value))
	}
	return out, nil
}
