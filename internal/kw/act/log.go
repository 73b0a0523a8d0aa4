package act

import (
	"weir/internal/lang/config"
	"weir/internal/lang/rule"
	"weir/internal/model"
)

func init() {
	rule.Add(rule.Action{Name: "do-log", In: rule.AnyKind, Args: "[ profile <name> ]", Help: "writes a log line now", Parse: parseDoLog})
}

// steps are the moments that log profiles know the action's places by.
var steps = [rule.NumKinds]model.LogStep{
	rule.TCPConnection: model.StepTCPReqConn, rule.TCPSession: model.StepTCPReqSess, rule.TCPContent: model.StepTCPReqCont,
	rule.TCPResponse: model.StepTCPResCont, rule.HTTPRequest: model.StepHTTPReq, rule.HTTPResponse: model.StepHTTPRes,
	rule.HTTPAfterResponse: model.StepHTTPAfterRes,
}

// doLog is the do-log action.
type doLog struct {
	step    model.LogStep
	profile *model.LogProfile
}

// Run writes the line.
func (d *doLog) Run(_ *model.Txn, c rule.Control) rule.Outcome {
	c.Log(d.step, d.profile)
	return rule.Next
}

func parseDoLog(p *rule.Parser) rule.Runner {
	d := &doLog{step: steps[p.Kind]}
	if p.Take("profile") {
		name, at, ok := p.Word("the name of a log-profile section: profile <name>")
		if !ok {
			return nil
		}
		p.L.Check(func(l *config.Line) {
			cfg := l.Parser().Root().(*model.Config)
			if d.profile = model.LogProfiles.Get(&cfg.Slots)[name]; d.profile == nil {
				l.Errorf(at, "there is no log-profile section '%s'.", name)
			}
		})
	}
	return d
}
