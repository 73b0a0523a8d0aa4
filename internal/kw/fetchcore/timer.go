package fetchcore

import (
	"time"

	"weir/internal/lang/sample"
	"weir/internal/model"
)

// defaultRetries is what a backend does without "retries".
const defaultRetries = 3

func init() {
	sample.AddFetch(
		timer("fc.timer.handshake", connected, "milliseconds of handshakes (Th)", func(t *model.Timers) int64 { return t.Handshake }),
		timer("req.timer.idle", atRequest, "milliseconds before the request's first byte (Ti)", func(t *model.Timers) int64 { return t.Idle }),
		timer("req.timer.hdr", atRequest, "milliseconds until the request's head was complete (TR)", func(t *model.Timers) int64 { return t.Request }),
		timer("req.timer.tq", atRequest, "milliseconds until then since the connection's start (Tq)", func(t *model.Timers) int64 {
			if t.Request < 0 {
				return -1
			}
			return max(t.Handshake, 0) + max(t.Idle, 0) + t.Request
		}),
		timer("req.timer.queue", answered, "milliseconds in queues (Tw)", func(t *model.Timers) int64 { return t.Queue }),
		timer("bc.timer.connect", answered, "milliseconds to connect to the server (Tc)", func(t *model.Timers) int64 { return t.Connect }),
		timer("res.timer.hdr", atReply, "milliseconds until the response's head was complete (Tr)", func(t *model.Timers) int64 { return t.Response }),
		timer("res.timer.data", returning, "milliseconds of data after the response's head (Td)", func(t *model.Timers) int64 {
			if t.Response < 0 {
				return -1
			}
			before := max(t.Handshake, 0) + max(t.Idle, 0) + max(t.Request, 0) + max(t.Queue, 0) + max(t.Connect, 0) + t.Response
			return max(t.Total-before, 0)
		}),
		timer("txn.timer.total", request, "milliseconds since the request's first byte (Ta)", func(t *model.Timers) int64 {
			return max(t.Total-max(t.Handshake, 0)-max(t.Idle, 0), 0)
		}),
		timer("txn.timer.user", request, "milliseconds as the user has felt them, without idle time (Tu)", func(t *model.Timers) int64 {
			return max(t.Total-max(t.Idle, 0), 0)
		}),
		timer("fc.timer.total", client, "milliseconds of the whole stream (Tt)", func(t *model.Timers) int64 { return max(t.Total, 0) }),

		timeout("fe_client_timeout", client, frontOf, "client", func(t model.Timeouts) time.Duration { return t.Client }),
		timeout("fe_tarpit_timeout", client, frontOf, "tarpit", tarpit),
		timeout("be_server_timeout", balanced, servedBy, "server", func(t model.Timeouts) time.Duration { return t.Server }),
		timeout("be_tunnel_timeout", balanced, servedBy, "tunnel", func(t model.Timeouts) time.Duration { return t.Tunnel }),
		timeout("be_connect_timeout", balanced, servedBy, "connect", func(t model.Timeouts) time.Duration { return t.Connect }),
		timeout("be_queue_timeout", balanced, servedBy, "queue", func(t model.Timeouts) time.Duration { return either(t.Queue, t.Connect) }),
		timeout("be_tarpit_timeout", balanced, servedBy, "tarpit", tarpit),

		current("cur_client_timeout", client, model.TimeoutClient),
		current("cur_server_timeout", balanced, model.TimeoutServer),
		current("cur_tunnel_timeout", balanced, model.TimeoutTunnel),
		current("cur_connect_timeout", balanced, model.TimeoutConnect),
		current("cur_queue_timeout", balanced, model.TimeoutQueue),
		current("cur_tarpit_timeout", connected, model.TimeoutTarpit),
		number("be_max_retries", balanced, "attempts to connect that the backend repeats", func(tx *model.Txn) (int64, bool) {
			p := servedBy(tx)
			switch {
			case p == nil:
				return 0, false
			case !p.IsBackend():
				return defaultRetries, true
			}
			return retries(p.Retries), true
		}),
		count("cur_max_retries", balanced, "attempts to connect that may be repeated now", func(tx *model.Txn) int64 { return retries(tx.S.MaxRetries()) }),
	)
}

// timer makes a fetch of a duration in milliseconds; -1: what it measures did not happen.
func timer(name string, where sample.Places, help string, get func(t *model.Timers) int64) sample.Fetch {
	return count(name, where, help, func(tx *model.Txn) int64 {
		ns := get(&tx.S.Record().Timers)
		if ns < 0 {
			return -1
		}
		return ns / int64(time.Millisecond)
	})
}

func frontOf(tx *model.Txn) *model.Proxy { return tx.S.Frontend() }

// timeout makes a fetch of a timeout of the configuration in milliseconds, 0 without one. Of a proxy without servers only
// the timeouts of frontends count, for others may come from a defaults section.
func timeout(name string, where sample.Places, of func(tx *model.Txn) *model.Proxy, what string, get func(t model.Timeouts) time.Duration) sample.Fetch {
	return number(name, where, what+" timeout of the configuration, in milliseconds", func(tx *model.Txn) (int64, bool) {
		p := of(tx)
		if p == nil {
			return 0, false
		}
		t := p.Timeout
		if !p.IsBackend() {
			t.Server, t.Tunnel, t.Connect, t.Queue = 0, 0, 0, 0
		}
		return get(t).Milliseconds(), true
	})
}

// tarpit is the timeout of tarpits, which is that of connections by default.
func tarpit(t model.Timeouts) time.Duration { return either(t.Tarpit, t.Connect) }

func either(d, other time.Duration) time.Duration {
	if d == 0 {
		return other
	}
	return d
}

// current makes a fetch of a timeout in force.
func current(name string, where sample.Places, kind model.TimeoutKind) sample.Fetch {
	return count(name, where, "timeout in force, in milliseconds", func(tx *model.Txn) int64 { return tx.S.Timeout(kind).Milliseconds() })
}

func retries(n int) int64 {
	if n < 0 {
		return defaultRetries
	}
	return int64(n)
}
