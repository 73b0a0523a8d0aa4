package rule

import (
	"strconv"
	"strings"

	"weir/internal/model"
	"weir/internal/wire/msg"
)

// authPage is the page of a status with a challenge added.
type authPage struct {
	field, challenge string
	under            model.PageFiller
	body             []byte
}

// Fill adds the challenge.
func (a *authPage) Fill(tx *model.Txn, m *msg.Message) ([]byte, bool) {
	body := a.body
	if a.under != nil {
		var ok bool
		if body, ok = a.under.Fill(tx, m); !ok {
			return nil, false
		}
	}
	m.Del(a.field)
	m.AddString(a.field, a.challenge)
	return body, true
}

// Challenge is the answer that asks for a name and a password: 401, or 407 for a client that speaks to a proxy.
func Challenge(tx *model.Txn, c Control, realm string) *model.ErrorPage {
	status, field := 401, "www-authenticate"
	if u := tx.Req.URI(); u.Form == msg.FormAbsolute && tx.Req.Has("proxy-connection") || tx.Req.Has("proxy-authorization") {
		status, field = 407, "proxy-authenticate"
	}
	text := "Basic realm=" + strconv.Quote(strings.NewReplacer("\n", "", "\r", "").Replace(realm))
	page := *c.Page(status)
	page.Fill, page.FillAfter = &authPage{field, text, page.Fill, page.Body}, true
	return &page
}
