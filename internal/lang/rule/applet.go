package rule

import (
	"weir/internal/model"
	"weir/internal/wire/msg"
)

// Applet answers requests in place of a server: the statistics, the metrics, other services (manual 4.4, "use-service").
type Applet interface {
	// LogName stands in log lines where the name of a server would: "<STATS>".
	LogName() string
	// Open answers a request. head is a response 200 without fields, whose body is sent in chunks; Open fills it in and
	// returns what makes the body. Without a body it returns nil. ok is false when the stream has its answer already: a
	// call of c that says so has failed.
	Open(tx *model.Txn, c Control, head *msg.Message) (body Source, ok bool)
}

// Source makes a body piece by piece, while the client takes it.
type Source interface {
	// Append appends the next piece to dst and tells whether another one follows. A piece costs a bounded amount of work,
	// some tens of microseconds at most: the fibers of the loop get their turn in between.
	Append(dst []byte) (out []byte, more bool)
}

// Interceptor answers some of a proxy's requests itself. It is asked after the proxy's http-request rules.
type Interceptor interface {
	// Intercept returns Next when the request is none of its own, and Done when it has been answered.
	Intercept(tx *model.Txn, c Control) Outcome
}
