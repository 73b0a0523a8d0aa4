package fetchcore

import "weir/internal/model"

// connError is the name and the text of what went wrong with a connection.
func connError(c model.ConnState) (name, text string) {
	e := model.ConnError(min(max(c.ErrCode(), 0), 255))
	if text = e.Text(); text == "" {
		text = c.ErrText()
	}
	return e.Name(), text
}
