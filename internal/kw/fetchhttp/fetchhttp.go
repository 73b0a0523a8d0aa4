// Package fetchhttp has the fetches of HTTP messages (manual, chapter 7.3.6).
//
// They read the message of the transaction. While a request has not arrived
// they set Txn.Wait. In a TCP proxy the request is looked for in the bytes that
// have come, as the reference does; that is the only case that allocates.
package fetchhttp

import (
	"bytes"

	"weir/internal/lang/sample"
	"weir/internal/model"
	"weir/internal/wire/h1"
	"weir/internal/wire/msg"
)

// Where the data of a message are, in the notation of the inventory.
const (
	reqPlaces  = "..YYYYYYYYY..........."
	resPlaces  = "...........YYYYYYY.Y.."
	dirPlaces  = "..YYYYYYYYYYYYYYYY.Y.." // of the direction whose rules run
	longPlaces = "..YYYYYYYYYYYYYYYYY..." // of a request, up to the log
	backPlaces = "...........YYYYYYYYY.." // of a response, up to the log
)

type (
	get  = func(*model.Txn, []sample.Arg, *model.Value) bool
	next = func(*model.Txn, []sample.Arg, *model.Value, *int) bool
)

// fetch is a row of the tables from which the files of this package register.
type fetch struct {
	names  []string
	args   string
	out    model.Type
	places string
	help   string
	check  func(*sample.ArgCheck, []sample.Arg) error
	get    get
	next   next
}

func add(list ...fetch) {
	for i := range list {
		f := &list[i]
		for _, name := range f.names {
			sample.AddFetch(sample.Fetch{
				Name: name, Args: f.args, Out: f.out, Valid: sample.MustSet(f.places), Help: f.help,
				Check: f.check, Get: f.get, Next: f.next,
			})
		}
	}
}

func names(n ...string) []string { return n }

// request returns the request; nil, with Wait set when it may still come, when there is none.
func request(tx *model.Txn) *msg.Message {
	if tx.Req != nil || tx.Dir == model.DirRes {
		return tx.Req
	}
	if fe := tx.S.Frontend(); fe != nil && fe.Mode == model.ModeTCP {
		return parseRaw(tx)
	}
	tx.Wait = tx.Wait || !tx.Final
	return nil
}

// response returns the answer; see request.
func response(tx *model.Txn) *msg.Message {
	if tx.Res == nil && tx.Dir == model.DirRes && !tx.Final {
		tx.Wait = true
	}
	return tx.Res
}

// side returns the message of the side whose rules run.
func side(tx *model.Txn) *msg.Message {
	if tx.Dir == model.DirRes {
		return response(tx)
	}
	return request(tx)
}

// preface is what HTTP/2 connections start with; it parses as a request, but is none.
const preface = "PRI * HTTP/2.0\r\n"

// parseRaw reads a request from the bytes of a TCP stream.
func parseRaw(tx *model.Txn) *msg.Message {
	data, closed := tx.S.Peek(model.DirReq)
	m := new(msg.Message)
	if bytes.HasPrefix(data, []byte(preface)) {
		m.SetMethod(data[:3])
		m.SetTarget(data[4:5])
		m.Major, m.Minor = 2, 0
		return m
	}
	var p h1.Parser
	n, err := p.ParseRequest(data, m, &h1.Options{MaxRaw: tx.Scratch.Limit()})
	if err != nil { // HTTP/0.9 is the one liberty that the reference takes here
		m.Reset()
		n, err = p.ParseRequest(data, m, &h1.Options{MaxRaw: tx.Scratch.Limit(), Unsafe: true})
		if err != nil || n == 0 || !m.HTTP09 {
			return nil
		}
	}
	if n == 0 {
		tx.Wait = tx.Wait || !closed && !tx.Final
		return nil
	}
	return m
}

// first returns the text of an optional argument, "" when it is not given.
func first(a []sample.Arg) string {
	if len(a) == 0 {
		return ""
	}
	return a[0].Str
}

// int32Of reads the integer at the start of a value as the *_val fetches do: an optional minus and digits, as 32 bits that
// wrap around; 0 when there is none.
func int32Of(b []byte) int64 {
	neg := len(b) > 0 && b[0] == '-'
	if neg {
		b = b[1:]
	}
	var n uint32
	for _, c := range b {
		if c -= '0'; c > 9 {
			break
		}
		n = n*10 + uint32(c)
	}
	if neg {
		n = -n
	}
	return int64(int32(n))
}
