package robust

import (
	"strings"
	"testing"

	"weir/test/scenario"
)

// sceneConfig has a listener l whose connections to the server are pooled and shared by all clients. $DEFAULTS, $FRONTEND
// and $MORE are what a test adds to the defaults, to the listener, and at the end.
const sceneConfig = `
global
	log stdout format raw local0
	nbthread 1
	$GLOBAL
defaults
	mode http
	log global
	option httplog
	timeout connect 5s
	timeout client 5s
	timeout server 5s
	retries 0
	http-reuse always
	$DEFAULTS
frontend l
	bind "fd@${l}"
	$FRONTEND
	default_backend b
backend b
	$BACKEND
	server s1 ${s1}
$MORE
`

// A scene is a process between an attacker and one origin.
type scene struct {
	*testing.T
	p *proxy
	o *origin
}

// parts are what a test adds to sceneConfig: keys as there, without the dollar.
type parts map[string]string

func (c parts) config() string {
	text := sceneConfig
	for _, key := range []string{"GLOBAL", "DEFAULTS", "FRONTEND", "BACKEND", "MORE"} {
		text = strings.ReplaceAll(text, "$"+key, c[key])
	}
	return text
}

// advisory plays a scene on every target: a first request fills the pool of server connections, then comes the attack, then
// a victim, then the questions of settle.
func advisory(t *testing.T, c parts, attack func(s *scene)) {
	each(t, func(t *testing.T, target *scenario.Target) {
		o := newOrigin(t)
		p := start(t, setup{target: target, config: c.config(), vars: map[string]string{"s1": o.addr}})
		s := &scene{T: t, p: p, o: o}
		p.victim("l")
		o.reset()
		attack(s)
		o.on(nil)
		p.victim("l")
		p.settle(o)
	})
}

// exchange sends a whole request on a new connection, reads the answer and checks its status. The connection stays open.
func (s *scene) exchange(request, status string) (*client, answer) {
	s.Helper()
	c := s.p.dial("l")
	method, _, _ := strings.Cut(request, " ")
	return c, c.send(request).want(method, status)
}

// only checks that the origin has got exactly these requests since the last reset, by their start lines.
func (s *scene) only(starts ...string) {
	s.Helper()
	var got []string
	for _, text := range strings.Split(string(s.o.received()), "\r\n") {
		if strings.HasSuffix(text, " HTTP/1.1") || strings.HasSuffix(text, " HTTP/1.0") {
			got = append(got, text)
		}
	}
	if strings.Join(got, "|") != strings.Join(starts, "|") {
		s.Errorf("the origin got %q, want %q; all: %.1000q", got, starts, s.o.received())
	}
}

// remember makes the origin note the number of the connection that a target's request came on, and do then what h does.
func (s *scene) remember(target string, h func(x *exchange)) <-chan int {
	used := make(chan int, 100)
	s.o.once(target, func(x *exchange) {
		used <- x.conn
		h(x)
	})
	return used
}

// cutOff checks that the server connection that was used is not kept.
func (s *scene) cutOff(used <-chan int) {
	s.Helper()
	select {
	case conn := <-used:
		if !s.o.closed(conn) {
			s.Errorf("server connection %d is kept", conn)
		}
	default:
		s.Errorf("the origin was not asked; it got %.200q", s.o.received())
	}
}
