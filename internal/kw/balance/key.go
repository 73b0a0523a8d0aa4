package balance

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"

	"weir/internal/lang/config"
	"weir/internal/lang/sample"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

// source is the address of the client, as a number: the words of a longer address are combined by exclusive or.
type source struct{}

func (source) Key(tx *model.Txn) (text []byte, raw, ok bool) {
	a := tx.S.Client().Addr()
	if !a.IsValid() {
		return nil, false, false
	}
	var n uint32
	if a.Is4() {
		b := a.As4()
		n = binary.BigEndian.Uint32(b[:])
	} else {
		b := a.As16()
		for i := 0; i < len(b); i += 4 {
			n ^= binary.BigEndian.Uint32(b[i:])
		}
	}
	text = binary.BigEndian.AppendUint32(tx.Scratch.Alloc(4)[:0], n)
	return text, true, true
}

// uri is the beginning of a request's target.
type uri struct {
	length, depth   int // 0: no bound
	whole, pathOnly bool
}

func parseURI(l *config.Line, b *model.Balance) bool {
	u := &uri{}
	for i := 1; l.Has(i); i++ {
		switch w := l.Arg(i); w {
		case "whole":
			u.whole = true
		case "path-only":
			u.pathOnly = true
		case "len", "depth":
			to := &u.length
			if w == "depth" {
				to = &u.depth
			}
			if i++; !l.Has(i) {
				l.Errorf(i, "'%s' expects a number, 1 or more.", w)
				return false
			}
			n, ok := l.Int(i, 1, math.MaxInt32)
			if !ok {
				return false
			}
			*to = int(n)
		default:
			l.Unknown(i, "parameter of 'balance uri'", []string{"len", "depth", "whole", "path-only"})
			return false
		}
	}
	b.Key = u
	return true
}

func (u *uri) Key(tx *model.Txn) (text []byte, raw, ok bool) {
	if tx.Req == nil {
		return nil, false, false
	}
	b := tx.Req.Target
	if u.pathOnly {
		if b = tx.Req.URI().PathQuery; len(b) == 0 {
			return nil, false, false
		}
	}
	slashes, end := 0, len(b)
	if u.length > 0 {
		end = min(end, u.length)
	}
	for i := range end {
		if c := b[i]; c == '/' {
			if slashes++; slashes > u.depth && u.depth > 0 {
				end = i
				break
			}
		} else if c == '?' && !u.whole {
			end = i
			break
		}
	}
	return b[:end], false, true
}

// param is a parameter of the query string, or of a form that is posted.
type param struct {
	name string
	post bool
}

func parseParam(l *config.Line, b *model.Balance) bool {
	if !l.NeedArgs(2, 4) { // an old form had a number after check_post
		return false
	}
	p := &param{name: l.Arg(1)}
	if l.Has(2) {
		if l.OneOf(2, "modifier of 'balance url_param'", "check_post") < 0 {
			return false
		}
		p.post, b.Body = true, true
	}
	b.Key = p
	return true
}

func (p *param) Key(tx *model.Txn) (text []byte, raw, ok bool) {
	if tx.Req == nil {
		return nil, false, false
	}
	if i := bytes.IndexByte(tx.Req.Target, '?'); i >= 0 {
		if v, ok := p.find(tx.Req.Target[i+1:]); ok {
			return v, false, true
		}
	}
	if p.post && tx.Req.Method == msg.POST {
		body, _ := tx.S.Body(model.DirReq)
		v, ok := p.find(body)
		return v, false, ok
	}
	return nil, false, false
}

// find returns the value of the parameter in a list that ampersands separate.
func (p *param) find(b []byte) ([]byte, bool) {
	for len(b) > 0 {
		one := b
		if i := bytes.IndexByte(b, '&'); i >= 0 {
			one, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		if n := len(p.name); len(one) > n && one[n] == '=' && string(one[:n]) == p.name {
			return one[n+1:], true
		}
	}
	return nil, false
}

// header is the first value of a header field.
type header struct {
	name   string
	domain bool // only the part of a host name before its last dot
}

func parseHeader(l *config.Line, b *model.Balance, name string) bool {
	h := &header{name: strings.ToLower(name)}
	if !l.NeedArgs(1, 2) {
		return false
	}
	if l.Has(1) {
		if l.OneOf(1, "modifier of 'balance hdr'", "use_domain_only") < 0 {
			return false
		}
		h.domain = true
	}
	b.Key = h
	return true
}

func (h *header) Key(tx *model.Txn) (text []byte, raw, ok bool) {
	if tx.Req == nil {
		return nil, false, false
	}
	it := tx.Req.List(h.name)
	if !it.Next() || len(it.Value) == 0 {
		return nil, false, false
	}
	if !h.domain {
		return it.Value, false, true
	}
	return domain(it.Value), false, true
}

// domain is the label before the last dot of a host name; all of it without a dot.
func domain(b []byte) []byte {
	end := bytes.LastIndexByte(b, '.')
	if end < 0 {
		return b
	}
	return b[bytes.LastIndexByte(b[:end], '.')+1 : end]
}

// expr is the value of an expression, as text where it is a hash already.
type expr struct{ e *sample.Expr }

func (x *expr) Key(tx *model.Txn) (text []byte, raw, ok bool) {
	v := tx.Value()
	defer tx.Done()
	to := model.TypeBin
	if p := tx.S.Backend(); p != nil && p.Balance.Hash == "none" {
		to = model.TypeStr
	}
	if !x.e.EvalAs(tx, to, v) {
		return nil, false, false
	}
	return v.B, false, true
}
