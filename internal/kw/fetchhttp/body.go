package fetchhttp

import (
	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	const i, b = model.TypeSint, model.TypeBin
	for _, d := range []struct {
		prefix, places string
		dir            model.Dir
	}{{"req", reqPlaces, model.DirReq}, {"res", resPlaces, model.DirRes}} {
		body := bodies{d.dir}
		add(
			fetch{names: names(d.prefix + ".body"), out: b, places: d.places, help: "what has arrived of the body", get: body.data},
			fetch{names: names(d.prefix + ".body_len"), out: i, places: d.places, help: "bytes that have arrived of the body", get: body.length},
			fetch{names: names(d.prefix + ".body_size"), out: i, places: d.places, help: "bytes that the body is announced to have", get: body.size},
		)
	}
}

// bodies are the fetches of the body of one side. They take what is there:
// "option http-buffer-request" and "wait-for-body" wait for it.
type bodies struct{ dir model.Dir }

// get returns what has arrived; a request in a TCP stream shows no body.
func (b bodies) get(tx *model.Txn) (data []byte, ok bool) {
	m := tx.Req
	if b.dir == model.DirRes {
		m = response(tx)
	} else if m == nil {
		return nil, request(tx) != nil
	}
	if m == nil {
		return nil, false
	}
	data, _ = tx.S.Body(b.dir)
	return data, true
}

func (b bodies) data(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	data, ok := b.get(tx)
	v.SetBin(data)
	return ok
}

func (b bodies) length(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	data, ok := b.get(tx)
	v.SetInt(int64(len(data)))
	return ok
}

func (b bodies) size(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	_, ok := b.get(tx)
	if !ok {
		return false
	}
	v.SetInt(0)
	if tx.Req != nil || b.dir == model.DirRes {
		v.SetInt(tx.S.BodySize(b.dir))
	}
	return true
}
