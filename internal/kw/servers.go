package kw

import (
	"weir/internal/lang/config"
	"weir/internal/model"
)

// checkServers holds the servers of a backend against its mode and settings.
func checkServers(p *config.Parser, px *model.Proxy) {
	const retry = model.RetryConnFailure | model.RetryDisconnected | model.RetryTimeout
	for _, s := range px.Servers {
		if px.Mode != model.ModeHTTP && (s.Cookie != "" || s.Redir != "") {
			what := "'redir'"
			if s.Cookie != "" {
				what = "'cookie'"
			}
			p.Errorf(s.Pos, "server '%s/%s': %s needs 'mode http'.", px.Name, s.Name, what)
		}
		if s.TFO && px.RetryOn&retry != retry {
			p.Warnf(s.Pos, "server '%s/%s' has 'tfo', but a connection that fails this way is not retried: set 'retry-on conn-failure empty-response response-timeout' in the backend.", px.Name, s.Name)
		}
	}
}

// absolute turns numbers within a group of per threads into those of the
// process.
func absolute(t *model.ThreadSet, per int) {
	if t.Group == 0 {
		return
	}
	first := (t.Group - 1) * per
	if t.High == 0 || t.High > per {
		t.High = per
	}
	t.Low, t.High, t.Group = first+t.Low, first+t.High, 0
}

// checkThreads finds binds that no thread would serve, and settles
// group-relative thread numbers.
func checkThreads(p *config.Parser, px *model.Proxy) {
	g := root(p).Global
	if g.NbThread == 0 {
		return // as many as the machine has CPUs: known when the process starts
	}
	groups := max(g.ThreadGroups, 1)
	per := (g.NbThread + groups - 1) / groups
	for _, b := range px.Binds {
		served := len(b.Threads) == 0
		for _, t := range b.Threads {
			switch {
			case t.Group > groups:
				p.Errorf(b.Pos, "'bind %s': there is no thread group %d; 'thread-groups' is %d.", b.Text, t.Group, groups)
				served = true
			case t.Group > 0:
				served = served || t.Low <= per
			default:
				served = served || t.Low <= g.NbThread
			}
		}
		if !served {
			p.Errorf(b.Pos, "'bind %s': none of its threads exists; 'nbthread' is %d.", b.Text, g.NbThread)
		}
		for i := range b.Threads {
			absolute(&b.Threads[i], per)
		}
	}
}
