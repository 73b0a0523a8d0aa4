package errors

import (
	"slices"

	"weir/internal/lang/config"
	"weir/internal/lang/rule"
	"weir/internal/model"
)

func parseHTTPError(l *config.Line, px *model.Proxy) {
	p := &rule.Parser{L: l, Kind: rule.HTTPRequest, Proxy: px, Name: "http-error", Directive: true}
	r := ParseReply(p, []string{"status"}, 200, 599)
	if r == nil {
		return
	}
	switch {
	case l.Has(p.I):
		l.Errorf(p.I, "'http-error' takes no condition.")
		return
	case r.Status == 0:
		l.Errorf(config.KeywordArg, "'http-error' needs the status that it is for: http-error status <code> ...")
		return
	case !slices.Contains(statuses, r.Status):
		l.Errorf(config.KeywordArg, "%d is no status that can be replaced; %s are.", r.Status, listStatuses())
		return
	}
	switch r.Payload {
	case "errorfiles":
		px.ErrorSections = append(px.ErrorSections, model.ErrorSection{
			Pos: l.Pos(), Name: r.Named, Codes: []int{r.Status}, Optional: true,
		})
	case "default-errorfiles":
		settle(px, r.Status, nil)
	default:
		if page := r.Page(r.Status); page != nil {
			settle(px, r.Status, page)
		}
	}
}

// HasPage reports whether a status is one of those that have a page.
func HasPage(status int) bool { return slices.Contains(statuses, status) }

// Statuses lists the statuses that have a page, for messages.
func Statuses() string { return listStatuses() }
