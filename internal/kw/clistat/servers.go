package clistat

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"weir/internal/base/addr"
	"weir/internal/engine/backend"
	"weir/internal/engine/server"
	"weir/internal/feat/cli"
)

// host is the address of a server without its port, as the state of servers names it.
func host(s *server.Server) string {
	switch s.Conf.Addr.Family {
	case addr.Unix, addr.Abstract:
		return "unix"
	}
	ip := s.Conf.Addr.IP
	if a := s.Addr(); a.IsValid() {
		ip = a.Addr()
	}
	if !ip.IsValid() {
		return "-"
	}
	return ip.String()
}

func port(s *server.Server) int {
	if a := s.Addr(); a.IsValid() {
		return int(a.Port())
	}
	return s.Conf.Addr.Port
}

// selected calls fn for the servers of the backend that the command names, or of all; false after an answer.
func selected(c *cli.Context) (list []*backend.Backend, ok bool) {
	for _, b := range c.Host.Backends() {
		if c.Arg(0) == "" || b.Name == c.Arg(0) {
			list = append(list, b)
		}
	}
	if len(list) == 0 && c.Arg(0) != "" {
		c.Err("Can't find backend.")
		return nil, false
	}
	return list, true
}

const stateHeader = "1\n# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight srv_iweight " +
	"srv_time_since_last_change srv_check_status srv_check_result srv_check_health srv_check_state srv_agent_state bk_f_forced_id " +
	"srv_f_forced_id srv_fqdn srv_port srvrecord srv_use_ssl srv_check_port srv_check_addr srv_agent_addr srv_agent_port\n"

// adminBits are the states that "show servers state" adds up.
var adminBits = map[cli.State]int{cli.Ready: 0, cli.Maint: 1, cli.MaintConfig: 1 | 4, cli.Drain: 8}

func serversState(c *cli.Context) {
	list, ok := selected(c)
	if !ok {
		return
	}
	c.Print(stateHeader)
	for _, b := range list {
		for _, s := range b.Servers {
			st, since := c.Host.AdminState(s)
			op, agent := 2, 0
			if st == cli.Maint || st == cli.MaintConfig {
				op = 0
			}
			if st == cli.MaintConfig {
				agent = 8
			}
			name := "-"
			if s.Conf.Host != "" {
				name = s.Conf.Host
			}
			c.Printf("%d %s %d %s %s %d %d %d %d %d 1 0 0 %d 0 0 0 %s %d - 0 0 - - 0\n", b.Conf.ID, b.Name, s.Conf.ID, s.Name, host(s),
				op, adminBits[st], s.Weight(), s.Conf.Weight, since/time.Second, agent, name, port(s))
			if c.Failed() {
				return
			}
		}
	}
}

func serversConn(c *cli.Context) {
	list, ok := selected(c)
	if !ok {
		return
	}
	threads := c.Host.Info().Threads
	c.Printf("# bkname/svname bkid/svid addr port - purge_delay served used_cur used_max need_est idle_sess unsafe_nb safe_nb idle_lim idle_cur idle_per_thr[%d]\n", threads)
	for _, b := range list {
		for _, s := range b.Servers {
			idle := s.Idle.Load()
			c.Printf("%s/%s %d/%d %s %d - %d %d %d %d 0 0 0 %d %d %d%s\n", b.Name, s.Name, b.Conf.ID, s.Conf.ID, host(s), port(s),
				purgeDelay(s).Milliseconds(), s.Cur.Cur(), max(s.Conns.Cur()-idle, 0), s.Conns.Peak(), idle, s.Conf.PoolMaxConn, idle, spread(idle, threads))
			if c.Failed() {
				return
			}
		}
	}
}

func purgeDelay(s *server.Server) time.Duration {
	if s.Conf.PoolPurgeDelay > 0 {
		return s.Conf.PoolPurgeDelay
	}
	return server.PurgeDelay
}

// spread tells idle connections by thread. Which one holds them is known to their loops only; with one thread it is clear.
func spread(idle int64, threads int) string {
	out := ""
	for i := range threads {
		n := idle / int64(threads)
		if int64(i) < idle%int64(threads) {
			n++
		}
		out += fmt.Sprintf(" %d", n)
	}
	return out
}

func showBackend(c *cli.Context) {
	c.Print("# name\n")
	for _, b := range c.Host.Backends() {
		c.Printf("%s\n", b.Name)
	}
}

func showPools(c *cli.Context) {
	i := c.Host.Info()
	c.Print("Dumping pools usage.\n")
	for _, p := range i.Pools {
		c.Printf("  - Pool %s (%d bytes) : %d allocated (%d bytes), %d used, %d failures\n", p.Name, p.Size, p.Allocated, p.Allocated*int64(p.Size), p.Used, p.Failed)
	}
	c.Printf("Total: %d pools, %d bytes allocated, %d used.\n", len(i.Pools), i.PoolBytes, i.PoolUsed)
}

func showActivity(c *cli.Context) {
	i := c.Host.Info()
	now := time.Now()
	c.Printf("thread_id: %d (1..%d)\n", 1, i.Threads)
	c.Printf("date_now: %d.%06d\n", now.Unix(), now.Nanosecond()/1000)
	c.Printf("uptime_now: %.6f\n", c.Host.Uptime().Seconds())
	c.Printf("accepted: %d\n", i.CumConns)
	c.Printf("pool_fail: %d\n", i.PoolFailed)
}

func showThreads(c *cli.Context) {
	for n := range c.Host.Info().Threads {
		c.Printf("  Thread %d : act=1\n", n+1)
	}
	c.Printf("  goroutines: %d\n", runtime.NumGoroutine())
}

func clearCounters(c *cli.Context) {
	switch c.Arg(0) {
	case "all":
		if c.Allowed(cli.Admin) {
			c.Host.ClearCounters(nil)
		}
	case "server":
		if c.Allowed(cli.Admin) {
			clearServer(c)
		}
	default:
		c.Host.ClearPeaks()
	}
}

func clearServer(c *cli.Context) {
	name := c.Arg(1)
	i := strings.LastIndexByte(name, '/')
	if i < 0 {
		c.Err("Require 'backend/server'.")
		return
	}
	for _, b := range c.Host.Backends() {
		if b.Name != name[:i] {
			continue
		}
		for _, s := range b.Servers {
			if s.Name == name[i+1:] {
				c.Host.ClearCounters(s)
				c.Msg(cli.SevInfo, "Server counters cleared.")
				return
			}
		}
		c.Err("No such server.")
		return
	}
	c.Err("No such backend.")
}
