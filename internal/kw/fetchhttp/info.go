package fetchhttp

import (
	"errors"

	"weir/internal/base/ascii"
	"weir/internal/lang/sample"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

func init() {
	const s, i, t = model.TypeStr, model.TypeSint, model.TypeBool
	add(
		fetch{names: names("method"), out: model.TypeMeth, places: longPlaces, help: "the request's method", get: method},
		fetch{names: names("req.ver", "req_ver"), out: s, places: longPlaces, help: "HTTP version of the request", get: reqVersion},
		fetch{names: names("res.ver", "resp_ver"), out: s, places: backPlaces, help: "HTTP version of the response", get: resVersion},
		fetch{names: names("status"), out: i, places: backPlaces, help: "status of the response", get: status},
		fetch{names: names("req.proto_http", "req_proto_http"), out: t, places: longPlaces, help: "the request is valid HTTP", get: protoHTTP},
		fetch{names: names("http_first_req"), out: t, places: longPlaces, help: "first request of its connection", get: firstRequest},
		fetch{names: names("unique-id"), out: s, places: "YYYYYYYYYYYYYYYYYYYYYY", help: "the unique ID", get: uniqueID},
		fetch{names: names("capture.req.method"), out: s, places: longPlaces, help: "method as it was received", get: capturedMethod},
		fetch{names: names("capture.req.uri"), out: s, places: longPlaces, help: "path and query string as they were received", get: capturedURI},
		fetch{names: names("capture.req.ver"), out: s, places: longPlaces, help: "HTTP/x.y of the request", get: capturedVersion(model.DirReq)},
		fetch{names: names("capture.res.ver"), out: s, places: longPlaces, help: "HTTP/x.y of the response", get: capturedVersion(model.DirRes)},
		fetch{names: names("capture.req.hdr"), args: "integer", out: s, places: longPlaces, help: "a captured request header", check: checkCapture, get: capture(model.DirReq)},
		fetch{names: names("capture.res.hdr"), args: "integer", out: s, places: backPlaces, help: "a captured response header", check: checkCapture, get: capture(model.DirRes)},
	)
}

func method(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	m := request(tx)
	if m == nil {
		return false
	}
	v.Type, v.Const, v.Num, v.B = model.TypeMeth, false, int64(m.Method), m.MethodName
	return true
}

// appendVersion writes "1.1".
func appendVersion(dst []byte, major, minor uint8) []byte {
	dst = append(ascii.AppendUint(dst, uint64(major)), '.')
	return ascii.AppendUint(dst, uint64(minor))
}

func setVersion(tx *model.Txn, m *msg.Message, v *model.Value) bool {
	if m == nil || m.VersionRaw != nil {
		return false
	}
	b, ok := tx.Scratch.Keep(appendVersion(tx.Scratch.Grab(), m.Major, m.Minor))
	v.SetStr(b)
	return ok
}

func reqVersion(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	return setVersion(tx, request(tx), v)
}
func resVersion(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	return setVersion(tx, response(tx), v)
}

func status(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	m := response(tx)
	if m == nil {
		return false
	}
	v.SetInt(int64(m.Status))
	return true
}

// protoHTTP is true for a request that is there; no value says that there is none.
func protoHTTP(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	if tx.Dir == model.DirRes || request(tx) == nil {
		return false
	}
	v.SetBool(true)
	return true
}

func firstRequest(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	c := tx.S.FrontConn()
	v.SetBool(c == nil || !c.Reused())
	return true
}

func uniqueID(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	id := tx.S.UniqueID()
	v.SetStr(id)
	return id != nil
}

func capturedMethod(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	r := tx.S.Record()
	if !r.HTTP || r.BadRequest || len(r.Method) == 0 {
		return false
	}
	v.SetStr(r.Method)
	return true
}

// capturedURI is path and query string of the target as it was received: rules do not change it.
func capturedURI(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	r := tx.S.Record()
	if !r.HTTP || r.BadRequest || len(r.URI) == 0 {
		return false
	}
	u := msg.ParseURI(r.URI, string(r.Method) == "CONNECT")
	if u.Form != msg.FormOrigin && u.Form != msg.FormAbsolute {
		return false
	}
	v.SetStr(u.PathQuery)
	return true
}

// capturedVersion writes "HTTP/1.1".
func capturedVersion(d model.Dir) get {
	return func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
		m := tx.Req
		if d == model.DirRes {
			m = tx.Res
		}
		if m == nil || m.VersionRaw != nil {
			return false
		}
		b, ok := tx.Scratch.Keep(appendVersion(append(tx.Scratch.Grab(), "HTTP/"...), m.Major, m.Minor))
		v.SetStr(b)
		return ok
	}
}

func checkCapture(_ *sample.ArgCheck, a []sample.Arg) error {
	if a[0].Int < 0 {
		return errors.New("captures are counted from 0")
	}
	return nil
}

func capture(d model.Dir) get {
	return func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
		slots := tx.S.Captures(d)
		if a[0].Int >= int64(len(slots)) || slots[a[0].Int] == nil {
			return false
		}
		v.SetStr(slots[a[0].Int])
		return true
	}
}
