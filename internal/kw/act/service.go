package act

import (
	"strings"

	"weir/internal/engine/applet"
	"weir/internal/lang/rule"
	"weir/internal/model"
)

func init() {
	rule.Add(rule.Action{
		Name: "use-service", In: 1 << rule.HTTPRequest, Final: true, Args: "<service>", Help: "lets a service answer in place of a server",
		Parse: func(p *rule.Parser) rule.Runner {
			name, i, ok := p.Word("the name of a service")
			if !ok {
				return nil
			}
			s := applet.Find(name)
			if s == nil {
				return p.Errorf(i, "there is no service '%s'; there are: %s.", name, strings.Join(applet.Names(), ", "))
			}
			return rule.RunFunc(func(_ *model.Txn, c rule.Control) rule.Outcome {
				c.Serve(s.Applet)
				return rule.Done
			})
		},
	})
}
