package conv

import (
	"errors"
	"fmt"
	"strings"

	"weir/internal/base/ascii"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	sample.AddConv(sample.Conv{Name: "when", Args: "string[,string,string]", In: model.TypeAny, Out: model.TypeAny, Check: checkWhen, Run: when,
		Help: "the value while a condition holds: error, normal, forwarded, processed, toapplet, stopping, or acl with a name; '!' inverts it"})
}

// condition is a prepared condition of when.
type condition struct {
	negate bool
	hold   func(tx *model.Txn) bool
	acl    *sample.Expr // instead of hold
}

// whenWords are the conditions without arguments.
var whenWords = map[string]func(*model.Txn) bool{
	"stopping":  func(tx *model.Txn) bool { return tx.S.Process().Stopping() },
	"error":     func(tx *model.Txn) bool { return !normal(tx) },
	"normal":    normal,
	"forwarded": forwardedToServer,
	"toapplet":  toApplet,
	"processed": func(tx *model.Txn) bool { return forwardedToServer(tx) || toApplet(tx) },
}

// normal is the rule of option dontlog-normal.
func normal(tx *model.Txn) bool {
	r := tx.S.Record()
	return r.Termination[0] == '-' && r.Termination[1] == '-' && r.Retries == 0 && !r.Redispatched && r.Status < 500
}

// forwardedToServer: a connection to a server has been asked for.
func forwardedToServer(tx *model.Txn) bool {
	return tx.S.Server() != nil && (tx.S.BackConn() != nil || tx.S.Record().Timers.Connect >= 0)
}

// served is a stream that can be answered by a part of the program itself, without a server: an applet.
type served interface{ ByApplet() bool }

func toApplet(tx *model.Txn) bool {
	s, ok := tx.S.(served)
	return ok && s.ByApplet()
}

func checkWhen(c *sample.ArgCheck, a []sample.Arg) error {
	word, negate := strings.CutPrefix(a[0].Str, "!")
	cond := &condition{negate: negate, hold: whenWords[word]}
	a[0].Data = cond
	if cond.hold != nil {
		return nil
	}
	if word != "acl" {
		return fmt.Errorf("'%s' is no condition; it can be error, normal, forwarded, processed, toapplet, stopping or acl, after an optional '!'", a[0].Str)
	}
	if len(a) < 2 || a[1].Str == "" {
		return errors.New("the name of the ACL is missing")
	}
	for _, b := range []byte(a[1].Str) {
		if !ascii.IsAlnum(b) && strings.IndexByte("_-.:", b) < 0 {
			return fmt.Errorf("'%s' is no name of an ACL", a[1].Str)
		}
	}
	var err error
	cond.acl, err = sample.Parse(c.Scope, "acl("+a[1].Str+")")
	return err
}

func when(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	c, _ := a[0].Data.(*condition)
	if c.acl == nil {
		return c.hold(tx) != c.negate
	}
	own := *v // v serves for the ACL meanwhile: a local value would be one on the heap
	pass := c.acl.EvalAs(tx, model.TypeBool, v) && v.Bool() != c.negate
	*v = own
	return pass
}
