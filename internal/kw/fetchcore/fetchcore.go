// Package fetchcore holds the sample fetches that tell what weir knows of
// itself and of its connections: constants, the process, proxies and servers
// (manual 7.3.2), addresses, timers, counts and the course of a stream
// (manual 7.3.3).
//
// What a fetch returns comes from the transaction's stream, from Proxy.Run and
// from Server.Run; nothing here asks the system, save for the process number.
package fetchcore

import (
	"fmt"
	"net/netip"

	"weir/internal/lang/sample"
	"weir/internal/model"
)

// Where the data of the fetches can be found: sets of the inventory that many of them share.
var (
	anywhere  = sample.Always
	running   = sample.MustSet("YYYYYYYYYYYYYYYYYYYY.Y") // needs the process
	connected = sample.MustSet("YYYYYYYYYYYYYYYYYYYY..") // needs a connection, be it one of a health check
	client    = sample.MustSet("YYYYYYYYYYYYYYYYYYY...") // needs a client's connection
	session   = sample.MustSet(".YYYYYYYYYYYYYYYYYY...") // needs an accepted session
	request   = sample.MustSet("..YYYYYYYYYYYYYYYYY...") // needs a request, which the stream remembers
	atRequest = sample.MustSet("..YYYYYYYYY...........") // needs the request itself
	balanced  = sample.MustSet("......YYYYYYYYYYYYYY..") // needs a backend
	assigned  = sample.MustSet("..........YYYYYYYYYY..") // needs a server
	answered  = sample.MustSet("...........YYYYYYYYY..") // needs a server's connection
	atReply   = sample.MustSet("...........YYYYYYY.Y..") // needs the response itself
	returning = sample.MustSet(".........YYYYYYYYYY...") // needs a server's data
)

// getter is the Get function of a fetch.
type getter = func(tx *model.Txn, a []sample.Arg, v *model.Value) bool

// number makes a fetch of an integer without arguments.
func number(name string, where sample.Places, help string, get func(tx *model.Txn) (int64, bool)) sample.Fetch {
	return sample.Fetch{Name: name, Out: model.TypeSint, Valid: where, Help: help,
		Get: func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
			n, ok := get(tx)
			if ok {
				v.SetInt(n)
			}
			return ok
		}}
}

// count is number for what is always there.
func count(name string, where sample.Places, help string, get func(tx *model.Txn) int64) sample.Fetch {
	return number(name, where, help, func(tx *model.Txn) (int64, bool) { return get(tx), true })
}

// truth makes a fetch of a boolean without arguments.
func truth(name string, where sample.Places, help string, get func(tx *model.Txn) (is, ok bool)) sample.Fetch {
	return sample.Fetch{Name: name, Out: model.TypeBool, Valid: where, Help: help,
		Get: func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
			is, ok := get(tx)
			if ok {
				v.SetBool(is)
			}
			return ok
		}}
}

// text makes a fetch of a string without arguments.
func text(name string, where sample.Places, help string, get func(tx *model.Txn) (string, bool)) sample.Fetch {
	return sample.Fetch{Name: name, Out: model.TypeStr, Valid: where, Help: help,
		Get: func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
			s, ok := get(tx)
			return ok && setText(tx, v, s)
		}}
}

// address makes a fetch of an address without arguments, which has no value for what is not IP.
func address(name string, where sample.Places, help string, get func(tx *model.Txn) netip.AddrPort) sample.Fetch {
	return sample.Fetch{Name: name, Out: model.TypeAddr, Valid: where, Help: help,
		Get: func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool { return v.SetIP(get(tx).Addr()) }}
}

// port makes a fetch of the port of an address.
func port(name string, where sample.Places, help string, get func(tx *model.Txn) netip.AddrPort) sample.Fetch {
	return number(name, where, help, func(tx *model.Txn) (int64, bool) {
		a := get(tx)
		return int64(a.Port()), a.IsValid()
	})
}

// setText copies s to the scratch memory.
func setText(tx *model.Txn, v *model.Value, s string) bool {
	b := tx.Scratch.Alloc(len(s))
	if b == nil {
		return false
	}
	copy(b, s)
	v.SetStr(b)
	return true
}

// unit is the Check function of fetches whose argument at index i is one of the given units; Arg.Int becomes its index.
func unit(i int, units ...string) func(*sample.ArgCheck, []sample.Arg) error {
	return func(_ *sample.ArgCheck, a []sample.Arg) error {
		if len(a) <= i {
			return nil
		}
		for n, u := range units {
			if a[i].Str == u {
				a[i].Int = int64(n)
				return nil
			}
		}
		return fmt.Errorf("unit '%s' is none of %s", a[i].Str, list(units))
	}
}

// list writes words as "'a', 'b' and 'c'".
func list(words []string) string {
	s := "'" + words[0] + "'"
	for i, w := range words[1:] {
		if i == len(words)-2 {
			s += " and '" + w + "'"
		} else {
			s += ", '" + w + "'"
		}
	}
	return s
}
