// Package applet has the services that answer requests in place of a server
// (manual 4.4, "use-service"), by their names. The stream runs them: see
// Serve in engine/stream.
package applet

import (
	"weir/internal/base/registry"
	"weir/internal/lang/rule"
)

// Service is something that "http-request use-service" can name.
type Service struct {
	Name, Help string
	Applet     rule.Applet
}

var services = registry.New[*Service]("service")

// Register adds services; from init functions only. It panics when a name is taken.
func Register(list ...Service) {
	for i := range list {
		services.Register(list[i].Name, &list[i], 1)
	}
}

// Freeze ends registration.
func Freeze() { services.Freeze() }

// Names are the names of all services, in byte order.
func Names() []string { return services.Names() }

// Find returns the service of a name, nil when there is none.
func Find(name string) *Service {
	s, _ := services.Lookup(name)
	return s
}
