package fetchcore

import (
	"strconv"

	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	sample.AddFetch(
		text("fe_name", client, "name of the frontend", func(tx *model.Txn) (string, bool) { return nameOf(tx.S.Frontend()) }),
		number("fe_id", client, "number of the frontend", func(tx *model.Txn) (int64, bool) { return idOf(tx.S.Frontend()) }),
		text("fe_defbe", client, "name of the frontend's default backend", func(tx *model.Txn) (string, bool) {
			p := tx.S.Frontend()
			if p == nil || p.DefaultBackend == "" {
				return "", false
			}
			return p.DefaultBackend, true
		}),
		text("be_name", balanced, "name of the backend, or of the frontend until one is chosen", func(tx *model.Txn) (string, bool) { return nameOf(servedBy(tx)) }),
		number("be_id", balanced, "number of the backend, or of the frontend until one is chosen", func(tx *model.Txn) (int64, bool) { return idOf(servedBy(tx)) }),
		text("srv_name", assigned, "name of the server", func(tx *model.Txn) (string, bool) {
			s := tx.S.Server()
			if s == nil {
				return "", false
			}
			return s.Name, true
		}),
		number("srv_id", assigned, "number of the server", func(tx *model.Txn) (int64, bool) {
			s := tx.S.Server()
			if s == nil {
				return 0, false
			}
			return int64(s.ID), true
		}),

		count("req.bytes_in", request, "bytes received from the client", reqIn),
		count("bytes_in", request, "bytes received from the client", reqIn),
		count("req.bytes_out", request, "bytes sent to the server", func(tx *model.Txn) int64 {
			_, out := tx.S.Bytes(model.DirReq)
			return out
		}),
		count("res.bytes_in", returning, "bytes received from the server", resIn),
		count("bytes_out", returning, "bytes received from the server", resIn),
		count("res.bytes_out", returning, "bytes sent to the client", func(tx *model.Txn) int64 {
			_, out := tx.S.Bytes(model.DirRes)
			return out
		}),
	)
}

func init() {
	sample.AddFetch(
		count("txn.conn_retries", answered, "repeated attempts to connect to the server", func(tx *model.Txn) int64 {
			n, _ := tx.S.Retries()
			return int64(n)
		}),
		truth("txn.redispatched", answered, "a repeated attempt went to another server", func(tx *model.Txn) (is, ok bool) {
			_, moved := tx.S.Retries()
			return moved, true
		}),
		sample.Fetch{Name: "txn.sess_term_state", Out: model.TypeStr, Valid: running, Help: "how the stream ended, two letters as in the log; '--' before",
			Get: termState},
		number("txn.status", answered, "the status sent to the client", func(tx *model.Txn) (int64, bool) {
			n := tx.S.Record().Status
			if n < 0 && tx.Res != nil { // not sent yet
				n = tx.Res.Status
			}
			return int64(n), n >= 0
		}),
		count("txn.id32", running, "number of the stream, which may wrap", func(tx *model.Txn) int64 { return int64(tx.S.Serial()) }),
		count("prio_class", running, "class of the stream in queues", func(tx *model.Txn) int64 {
			class, _ := tx.S.Priority()
			return int64(class)
		}),
		count("prio_offset", running, "offset of the stream in queues, in milliseconds", func(tx *model.Txn) int64 {
			_, offset := tx.S.Priority()
			return int64(offset)
		}),
		count("bc_be_queue", answered, "streams that were before this one in the backend's queue", func(tx *model.Txn) int64 { return tx.S.Record().BeQueue }),
		count("bc_srv_queue", answered, "streams that were before this one in the server's queue", func(tx *model.Txn) int64 { return tx.S.Record().SrvQueue }),

		text("last_rule_file", running, "file of the last rule that ended a rule set", func(tx *model.Txn) (string, bool) {
			pos, ok := lastRule(tx)
			return pos.File, ok
		}),
		number("last_rule_line", running, "line of the last rule that ended a rule set", func(tx *model.Txn) (int64, bool) {
			pos, ok := lastRule(tx)
			return int64(pos.Line), ok
		}),
		place("last_entity", "file and line of the last rule that ended a rule set", lastRule),
		place("waiting_entity", "file and line of the rule that waited when an error or a timeout came", func(tx *model.Txn) (model.Position, bool) { return tx.S.WaitingRule() }),

		count("fs.aborted", session, "1 when the client went away too early", func(tx *model.Txn) int64 { return aborted(tx, model.DirReq) }),
		count("bs.aborted", answered, "1 when the server went away too early", func(tx *model.Txn) int64 { return aborted(tx, model.DirRes) }),
	)
}

func nameOf(p *model.Proxy) (string, bool) {
	if p == nil {
		return "", false
	}
	return p.Name, true
}

func idOf(p *model.Proxy) (int64, bool) {
	if p == nil {
		return 0, false
	}
	return int64(p.ID), true
}

func reqIn(tx *model.Txn) int64 {
	n, _ := tx.S.Bytes(model.DirReq)
	return n
}

func resIn(tx *model.Txn) int64 {
	n, _ := tx.S.Bytes(model.DirRes)
	return n
}

func aborted(tx *model.Txn, d model.Dir) int64 {
	if tx.S.Aborted(d) {
		return 1
	}
	return 0
}

func termState(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
	b := tx.Scratch.Alloc(2)
	if b == nil {
		return false
	}
	t := &tx.S.Record().Termination
	for i := range b {
		if b[i] = t[i]; b[i] == 0 {
			b[i] = '-'
		}
	}
	v.SetStr(b)
	return true
}

// lastRule prefers the response's side, which runs later.
func lastRule(tx *model.Txn) (model.Position, bool) {
	if pos, ok := tx.S.LastRule(model.DirRes); ok {
		return pos, true
	}
	return tx.S.LastRule(model.DirReq)
}

// place makes a fetch of a position, "file:line".
func place(name, help string, get func(tx *model.Txn) (model.Position, bool)) sample.Fetch {
	return sample.Fetch{Name: name, Out: model.TypeStr, Valid: running, Help: help,
		Get: func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
			pos, ok := get(tx)
			if !ok {
				return false
			}
			b := append(append(tx.Scratch.Grab(), pos.File...), ':')
			b, ok = tx.Scratch.Keep(strconv.AppendInt(b, int64(pos.Line), 10))
			if ok {
				v.SetStr(b)
			}
			return ok
		}}
}
