//go:build !race

package counter

import "sync/atomic"

func write(p *uint64, v uint64) { *p = v }
func read(p *uint64) (v uint64) { return atomic.LoadUint64(p) }
