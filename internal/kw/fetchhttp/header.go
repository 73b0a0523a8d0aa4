package fetchhttp

import (
	"bytes"
	"errors"
	"net/netip"

	"weir/internal/base/ascii"
	"weir/internal/lang/sample"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

// maxBack is how far from the end an occurrence may be counted.
const maxBack = 10

const (
	occArgs  = "[string,integer]"
	nameArgs = "[string]"
)

func init() {
	const s, i, a = model.TypeStr, model.TypeSint, model.TypeAddr
	row := func(n []string, args string, out model.Type, places, help string, check func(*sample.ArgCheck, []sample.Arg) error, g get, nx next) {
		add(fetch{n, args, out, places, help, check, g, nx})
	}
	last := "last value of a header, or that of a given place"
	whole := "whole last line of a header, or that of a given place"
	for _, d := range []struct {
		of                            side1
		places                        string
		hdr, fhdr, val, ip, cnt, fcnt []string
	}{
		{request, reqPlaces, names("req.hdr"), names("req.fhdr"), names("req.hdr_val", "hdr_val"), names("req.hdr_ip", "hdr_ip"), names("req.hdr_cnt", "hdr_cnt"), names("req.fhdr_cnt")},
		{response, resPlaces, names("res.hdr", "shdr"), names("res.fhdr"), names("res.hdr_val", "shdr_val"), names("res.hdr_ip", "shdr_ip"), names("res.hdr_cnt", "shdr_cnt"), names("res.fhdr_cnt")},
	} {
		h, f := headers{of: d.of}, headers{of: d.of, whole: true}
		row(d.hdr, occArgs, s, d.places, last, checkOcc, h.text, h.nextText)
		row(d.fhdr, occArgs, s, d.places, whole, checkOcc, f.text, f.nextText)
		row(d.val, occArgs, i, d.places, "a header as an integer", checkOcc, h.integer, h.nextInteger)
		row(d.ip, occArgs, a, d.places, "a header as an address", checkOcc, h.address, h.nextAddress)
		row(d.cnt, nameArgs, i, d.places, "number of values of a header", nil, h.count, nil)
		row(d.fcnt, nameArgs, i, d.places, "number of lines of a header", nil, f.count, nil)
	}
	both := headers{of: side}
	row(names("hdr"), occArgs, s, dirPlaces, last, checkOcc, both.text, both.nextText)
}

// side1 returns the message that a fetch looks at.
type side1 = func(tx *model.Txn) *msg.Message

// checkOcc judges the place of an occurrence.
func checkOcc(_ *sample.ArgCheck, a []sample.Arg) error {
	if len(a) > 1 && a[1].Int < -maxBack {
		return errors.New("the occurrence of a header must be >= -10")
	}
	return nil
}

// values walks the values of the fields of a name, all fields with an empty one: what stands between commas, or whole lines.
// Unlike msg.ListIter it has the empty values too.
type values struct {
	m     *msg.Message
	name  string
	whole bool
	field int // index of the next field to look at
	line  []byte
	off   int // where in line the next value starts; above its length: there is none
	start int // where in line v was cut out, with the blanks around it
	v     []byte
}

func (w *values) next() bool {
	for w.off > len(w.line) || w.line == nil {
		if !w.nextField() {
			return false
		}
	}
	if w.whole {
		w.v, w.off = w.line, len(w.line)+1
		return true
	}
	w.start = w.off
	n := msg.ListElem(w.line[w.off:])
	w.v = ascii.Trim(w.line[w.off : w.off+n])
	w.off += n + 1
	return true
}

// noLine stands for an empty value where nil means that there is no line.
var noLine = []byte{}

func (w *values) nextField() bool {
	for ; w.field < len(w.m.Fields); w.field++ {
		f := &w.m.Fields[w.field]
		if w.name != "" && !(len(f.Name) == len(w.name) && f.Is(w.name)) {
			continue
		}
		w.field++
		if w.line, w.off = f.Value, 0; w.line == nil {
			w.line = noLine
		}
		return true
	}
	w.line = nil
	return false
}

// pack makes the state of an iteration between two calls out of where w stands; resume goes on from there.
func (w *values) pack() int {
	off := 0 // the next field
	if w.line != nil && w.off <= len(w.line) {
		off = w.off + 1
	}
	return w.field<<32 | off + 1
}

func (w *values) resume(state int) {
	if state == 0 {
		return
	}
	w.field = state >> 32
	if off := state&(1<<32-1) - 1; off > 0 && w.field > 0 && w.field <= len(w.m.Fields) {
		w.line, w.off = w.m.Fields[w.field-1].Value, off-1
	}
}

// headers are the fetches of header fields of one side.
type headers struct {
	of    side1
	whole bool
}

// find returns the value that the arguments name: the last one without a place.
func (h headers) find(tx *model.Txn, a []sample.Arg) ([]byte, bool) {
	m := h.of(tx)
	if m == nil || len(a) == 0 {
		return nil, false
	}
	occ := int64(-1)
	if len(a) > 1 && a[1].Int != 0 {
		occ = a[1].Int
	}
	w := values{m: m, name: a[0].Str, whole: h.whole}
	if occ > 0 {
		for w.next() {
			if occ--; occ == 0 {
				return w.v, true
			}
		}
		return nil, false
	}
	var ring [maxBack][]byte
	n := 0
	for ; w.next(); n++ {
		ring[n%maxBack] = w.v
	}
	if n+int(occ) < 0 {
		return nil, false
	}
	return ring[(n+int(occ))%maxBack], true
}

// step returns the next value of an iteration; one only when a place is given.
func (h headers) step(tx *model.Txn, a []sample.Arg, state *int) ([]byte, bool) {
	if *state < 0 || len(a) == 0 {
		return nil, false
	}
	if len(a) > 1 && a[1].Int != 0 {
		*state = -1
		return h.find(tx, a)
	}
	m := h.of(tx)
	if m == nil {
		return nil, false
	}
	w := values{m: m, name: a[0].Str, whole: h.whole}
	w.resume(*state)
	if !w.next() {
		*state = -1
		return nil, false
	}
	*state = w.pack()
	return w.v, true
}

func (h headers) text(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	b, ok := h.find(tx, a)
	v.SetStr(b)
	return ok
}

func (h headers) nextText(tx *model.Txn, a []sample.Arg, v *model.Value, state *int) bool {
	b, ok := h.step(tx, a, state)
	v.SetStr(b)
	return ok
}

func (h headers) integer(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	b, ok := h.find(tx, a)
	v.SetInt(int32Of(b))
	return ok
}

func (h headers) nextInteger(tx *model.Txn, a []sample.Arg, v *model.Value, state *int) bool {
	b, ok := h.step(tx, a, state)
	v.SetInt(int32Of(b))
	return ok
}

func (h headers) address(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	b, ok := h.find(tx, a)
	if !ok {
		return false
	}
	ip, ok := addressOf(b)
	return ok && v.SetIP(ip)
}

// nextAddress passes over the values that are no addresses.
func (h headers) nextAddress(tx *model.Txn, a []sample.Arg, v *model.Value, state *int) bool {
	for {
		b, ok := h.step(tx, a, state)
		if !ok {
			return false
		}
		if ip, ok := addressOf(b); ok {
			return v.SetIP(ip)
		}
	}
}

// addressOf reads an address as RFC 7239 writes it: IPv4, with a port that is dropped, or IPv6, in brackets or not.
func addressOf(b []byte) (netip.Addr, bool) {
	if len(b) == 0 {
		return netip.Addr{}, false
	}
	v6 := b[0] == '['
	if v6 {
		if b[len(b)-1] != ']' {
			return netip.Addr{}, false
		}
		b = b[1 : len(b)-1]
	} else if i := bytes.IndexByte(b, ':'); i >= 0 && bytes.IndexByte(b[i+1:], ':') < 0 {
		if port, ok := ascii.ParseUint(b[i+1:]); !ok || port > 65535 {
			return netip.Addr{}, false
		}
		b = b[:i]
	}
	if bytes.IndexByte(b, '[') >= 0 {
		return netip.Addr{}, false
	}
	ip, ok := sample.ParseAddr(b)
	return ip, ok && (!v6 || ip.Is6())
}

// count counts values or lines, of all headers without a name.
func (h headers) count(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	m := h.of(tx)
	if m == nil {
		return false
	}
	n := int64(0)
	for w := (values{m: m, name: first(a), whole: h.whole}); w.next(); {
		n++
	}
	v.SetInt(n)
	return true
}
