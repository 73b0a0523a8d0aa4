package conv

import (
	"bytes"

	"weir/internal/lang/sample"
	"weir/internal/model"
)

// Converters that look up objects of the configuration by the name that they are given, and captures.

func init() {
	sample.AddConv(
		sample.Conv{Name: "capture-req", Args: "integer", In: model.TypeStr, Out: model.TypeStr, Help: "stores the text in a capture slot of the request", Run: capture(model.DirReq)},
		sample.Conv{Name: "capture-res", Args: "integer", In: model.TypeStr, Out: model.TypeStr, Help: "stores the text in a capture slot of the response", Run: capture(model.DirRes)},
		sample.Conv{Name: "fe_exists", In: model.TypeStr, Out: model.TypeBool, Help: "whether there is a frontend of that name", Run: plain(feExists)},
		sample.Conv{Name: "nbsrv", In: model.TypeStr, Out: model.TypeSint, Help: "how many servers of the backend of that name can take traffic", Run: plain(nbsrv)},
		sample.Conv{Name: "srv_is_up", In: model.TypeStr, Out: model.TypeBool, Run: plain(srvIsUp),
			Help: "whether the server is up that is named as backend/server, or as server in the stream's own backend"},
		sample.Conv{Name: "srv_queue", In: model.TypeStr, Out: model.TypeSint, Run: plain(srvQueue),
			Help: "how many streams wait for the server that is named as backend/server, or as server in the stream's own backend"},
	)
}

func capture(d model.Dir) func(*model.Txn, []sample.Arg, *model.Value) bool {
	return func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
		n := a[0].Int
		return n >= 0 && n < int64(len(tx.S.Captures(d))) && tx.S.SetCapture(d, int(n), v.B)
	}
}

// configured is a process that can tell the configuration that it runs.
type configured interface{ Config() *model.Config }

// find returns the proxy of a name that has a side, nil when there is none.
func find(tx *model.Txn, name []byte, side model.Side) *model.Proxy {
	p, ok := tx.S.Process().(configured)
	if !ok {
		return nil
	}
	cfg := p.Config()
	if cfg == nil {
		return nil
	}
	for _, p := range cfg.Proxies {
		if p.Sides&side != 0 && string(name) == p.Name {
			return p
		}
	}
	return nil
}

func feExists(tx *model.Txn, v *model.Value) bool {
	v.SetBool(find(tx, v.B, model.SideFrontend) != nil)
	return true
}

func nbsrv(tx *model.Txn, v *model.Value) bool {
	p := find(tx, v.B, model.SideBackend)
	if p == nil || p.Run == nil {
		return false
	}
	v.SetInt(int64(p.Run.Usable()))
	return true
}

// server finds the server that a text names.
func server(tx *model.Txn, name []byte) model.ServerState {
	var p *model.Proxy
	if i := bytes.IndexByte(name, '/'); i >= 0 {
		p, name = find(tx, name[:i], model.SideBackend), name[i+1:]
	} else if p = tx.S.Backend(); p == nil {
		p = tx.S.Frontend()
	}
	if p == nil {
		return nil
	}
	for _, s := range p.Servers {
		if string(name) == s.Name {
			return s.Run
		}
	}
	return nil
}

func srvIsUp(tx *model.Txn, v *model.Value) bool {
	s := server(tx, v.B)
	if s == nil {
		return false
	}
	v.SetBool(s.Up())
	return true
}

func srvQueue(tx *model.Txn, v *model.Value) bool {
	s := server(tx, v.B)
	if s == nil {
		return false
	}
	v.SetInt(s.Queued())
	return true
}
