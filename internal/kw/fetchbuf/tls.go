package fetchbuf

import (
	"weir/internal/lang/sample"
	"weir/internal/model"
	"weir/internal/wire/clienthello"
)

// helloType gives the type of the TLS handshake message at the start of a direction, once all of it is there.
func helloType(d model.Dir) func(*model.Txn, []sample.Arg, *model.Value) bool {
	return func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
		data, more, ok := raw(tx, d)
		if !ok {
			return false
		}
		n, st := clienthello.Type(data)
		if st != clienthello.Complete {
			return wait(tx, more && st == clienthello.Incomplete)
		}
		v.SetInt(int64(n))
		return true
	}
}

func helloVersion(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	data, more, ok := raw(tx, model.DirReq)
	if !ok {
		return false
	}
	n, st := clienthello.Version(data)
	if st != clienthello.Complete {
		return wait(tx, more && st == clienthello.Incomplete)
	}
	v.SetInt(int64(n))
	return true
}

// hello reads the ClientHello; false, with Wait set where more bytes may help, when there is none.
func hello(tx *model.Txn, h *clienthello.Hello) bool {
	data, more, ok := raw(tx, model.DirReq)
	if !ok {
		return false
	}
	var room []byte
	if n := clienthello.Joined(data); n > 0 {
		if room = tx.Scratch.Alloc(n); room == nil {
			return false
		}
	}
	st := clienthello.Parse(data, room, h)
	return st == clienthello.Complete || wait(tx, more && st == clienthello.Incomplete)
}

func helloSNI(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	var h clienthello.Hello
	if !hello(tx, &h) {
		return false
	}
	name, ok := h.SNI()
	v.SetStr(name)
	return ok
}

func helloALPN(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	var h clienthello.Hello
	if !hello(tx, &h) {
		return false
	}
	name, ok := h.ALPN()
	v.SetStr(name)
	return ok
}

// helloEC is true with the extension; without it there is no value.
func helloEC(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	var h clienthello.Hello
	if !hello(tx, &h) {
		return false
	}
	_, found, _ := h.Extension(clienthello.ExtGroups)
	v.SetBool(true)
	return found
}

func helloTicket(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	var h clienthello.Hello
	if !hello(tx, &h) {
		return false
	}
	ticket, found, known := h.Ticket()
	switch {
	case !known:
		return false
	case !found:
		v.SetInt(0)
	case len(ticket) == 0:
		v.SetInt(1)
	default:
		v.SetInt(2)
	}
	return true
}

func helloCiphers(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	var h clienthello.Hello
	if !hello(tx, &h) {
		return false
	}
	v.SetBin(h.Ciphers)
	return h.Ciphers != nil
}

func helloGroups(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	var h clienthello.Hello
	if !hello(tx, &h) {
		return false
	}
	list, ok := h.Groups()
	v.SetBin(list)
	return ok
}

func helloSigAlgs(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	var h clienthello.Hello
	if !hello(tx, &h) {
		return false
	}
	list, ok := h.SigAlgs()
	v.SetBin(list)
	return ok
}

func helloKeyShares(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	var h clienthello.Hello
	if !hello(tx, &h) {
		return false
	}
	list, ok := h.AppendKeyShareGroups(tx.Scratch.Grab())
	if list, kept := tx.Scratch.Keep(list); kept && ok {
		v.SetBin(list)
		return true
	}
	return false
}
