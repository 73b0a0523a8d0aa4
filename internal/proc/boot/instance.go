package boot

import (
	"cmp"

	"weir/internal/base/buf"
	"weir/internal/base/diag"
	"weir/internal/model"
	"weir/internal/proc/args"
	"weir/internal/proc/generation"
	"weir/internal/proc/limits"
	"weir/internal/proc/signals"
	"weir/internal/rt/poll"
)

// instance is a process of generations with its first one.
type instance struct {
	*generation.Process
	first *generation.Generation
}

func (i *instance) Bind() *diag.List { return i.Process.Bind(i.first) }
func (i *instance) Start() error     { return i.Process.Start(i.first) }

// NewInstance builds what runs a configuration: Program.New of the real
// program.
func NewInstance(cfg *model.Config, rt Runtime) (signals.Instance, error) {
	g := cfg.Global
	kind := poll.Auto
	switch {
	case g.NoUring:
		kind = poll.Epoll
	case g.NoEpoll:
		kind = poll.Uring
	}
	limits.ApplyRuntime(tuning(rt.Limits))
	p := generation.NewProcess(generation.ProcessOptions{
		Threads: rt.Limits.Threads,
		Poller:  kind,
		MaxConn: rt.Limits.MaxConn,
		Buffers: buf.NewShared(buffers(g.Tune, rt.Limits, rt.Args.Memory)),
		Pin:     func(thread int) error { return limits.PinThread(g.CPUMap, thread) },
		Warn:    func(text string) { rt.Report(diag.Warning, text) },
		Version: Compatible + "-weir" + Version, Released: buildDate(), StartupLogs: rt.Logs,
	})
	first, err := p.Build(cfg)
	if err != nil {
		return nil, err
	}
	return &instance{Process: p, first: first}, nil
}

// tuning is what the Go runtime is told: a processor for each loop, for loops
// hold theirs while they work, and one for everything else; and the limit of
// -m, which it keeps by collecting more often.
func tuning(plan limits.Plan) limits.Runtime {
	return limits.Runtime{Procs: plan.Threads + 1, MemoryBytes: plan.MemoryBytes}
}

// buffers is the configuration of the buffer pools. A limit on memory (-m)
// leaves three quarters of it to them.
func buffers(t model.Tune, plan limits.Plan, debug *args.Memory) buf.Config {
	c := buf.Config{
		SmallSize: t.BufSizeSmall, StdSize: t.BufSize, LargeSize: t.BufSizeLarge,
		Limit: t.BuffersLimit, Reserve: cmp.Or(t.BuffersReserve, defaultReserve), FailPercent: t.FailAlloc,
	}
	if debug != nil {
		c.Poison = debug.Poison || debug.Integrity || debug.Tag || debug.Backup
	}
	if plan.MemoryBytes > 0 {
		most := int(plan.MemoryBytes / 4 * 3 / int64(cmp.Or(t.BufSize, model.DefaultBufSize)))
		if c.Limit == 0 || c.Limit > most {
			c.Limit = most
		}
	}
	return c
}

// defaultReserve is tune.buffers.reserve where the configuration has none.
const defaultReserve = 2
