package errors

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"os"
	"strconv"

	"weir/internal/base/ascii"
	"weir/internal/lang/config"
	"weir/internal/model"
)

// maxFile bounds what is read of an error file, in bytes: no buffer is larger.
const maxFile = 16 << 20

// parseErrorFile reads "<code> <file>". It returns nil after an error.
func parseErrorFile(l *config.Line) *model.ErrorPage {
	if !l.NeedArgs(2, 2) {
		return nil
	}
	status, ok := statusArg(l, 0)
	if !ok {
		return nil
	}
	return loadPage(l, 1, status)
}

// loadPage reads the file in argument i as a whole HTTP response.
func loadPage(l *config.Line, i, status int) *model.ErrorPage {
	raw, ok := readFile(l, i)
	if !ok {
		return nil
	}
	page := &model.ErrorPage{Pos: l.Pos(), Status: status, LengthAt: -1}
	if len(raw) == 0 {
		page.Empty = true
		return page
	}
	if err := parseResponse(raw, page); err != nil {
		l.Errorf(i, "'%s' is no valid HTTP response: %v.", l.Arg(i), err)
		return nil
	}
	checkSize(l, i, len(raw))
	return page
}

// checkSize holds a size against the buffer size, which is known once all
// files are parsed.
func checkSize(l *config.Line, i, size int) {
	l.Check(func(l *config.Line) {
		limit := l.Parser().Root().(*model.Config).Global.Tune.BufSize
		if limit == 0 {
			limit = model.DefaultBufSize
		}
		if size > limit {
			l.Errorf(i, "'%s' has %d bytes, more than a buffer of %d bytes takes (see 'tune.bufsize').", l.Arg(i), size, limit)
		}
	})
}

func readFile(l *config.Line, i int) ([]byte, bool) {
	name := l.Path(l.Arg(i))
	raw, err := config.ReadFile(name, maxFile)
	if err != nil {
		if e := new(os.PathError); stderrors.As(err, &e) {
			err = e.Err
		}
		l.Errorf(i, "cannot read '%s': %v.", name, err)
		return nil, false
	}
	return raw, true
}

// parseResponse cuts a response into status line, fields and body. Lines may
// end with LF alone. What depends on framing is refused: a chunked body, a
// length that is not the body's, a body where none is allowed.
func parseResponse(raw []byte, page *model.ErrorPage) error {
	line, rest, ok := cutLine(raw)
	if !ok {
		return stderrors.New("the status line does not end")
	}
	if err := parseStatusLine(line, page); err != nil {
		return err
	}
	length := int64(-1)
	for n := 2; ; n++ {
		if line, rest, ok = cutLine(rest); !ok {
			return stderrors.New("the empty line after the header fields is missing")
		}
		if len(line) == 0 {
			break
		}
		name, value, err := parseField(line, n)
		if err != nil {
			return err
		}
		switch name {
		case "transfer-encoding":
			return stderrors.New("a 'Transfer-Encoding' field is not supported here")
		case "content-length":
			v, valid := ascii.ParseUint([]byte(value))
			if !valid || v > maxFile || length >= 0 && int64(v) != length {
				return fmt.Errorf("line %d: '%s' is no length that fits", n, value)
			}
			length = int64(v)
			page.LengthAt = len(page.Fields)
		case "connection", "keep-alive", "proxy-connection":
			// Each connection says this for itself.
		default:
			page.Fields = append(page.Fields, [2]string{name, value})
		}
	}
	page.Body = bytes.Clone(rest)
	switch {
	case length >= 0 && length != int64(len(rest)):
		return fmt.Errorf("its content-length is %d, the body has %d bytes", length, len(rest))
	case len(rest) > 0 && (page.Code < 200 || page.Code == 204 || page.Code == 304):
		return fmt.Errorf("status %d allows no body", page.Code)
	}
	return nil
}

// cutLine cuts at LF or CRLF.
func cutLine(b []byte) (line, rest []byte, ok bool) {
	line, rest, ok = bytes.Cut(b, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'}), rest, ok
}

// parseStatusLine reads "HTTP/1.x SP code [SP reason]".
func parseStatusLine(line []byte, page *model.ErrorPage) error {
	version, rest, _ := bytes.Cut(line, []byte{' '})
	if len(version) != 8 || !bytes.HasPrefix(version, []byte("HTTP/1.")) || !ascii.IsDigit(version[7]) {
		return stderrors.New("it does not start with 'HTTP/1.0' or 'HTTP/1.1'")
	}
	page.HTTP10 = version[7] == '0'
	code, reason, _ := bytes.Cut(rest, []byte{' '})
	n, err := strconv.Atoi(string(code))
	if err != nil || len(code) != 3 || n < 100 {
		return fmt.Errorf("'%s' is no status of three digits", code)
	}
	if ascii.IndexCtl(reason) >= 0 {
		return stderrors.New("the reason phrase contains a control character")
	}
	page.Code, page.Reason = n, string(reason)
	return nil
}

func parseField(line []byte, n int) (name, value string, err error) {
	k, v, ok := bytes.Cut(line, []byte{':'})
	if !ok || !ascii.IsTokenBytes(k) {
		return "", "", fmt.Errorf("line %d is no header field", n)
	}
	v = ascii.Trim(v)
	for _, c := range v {
		if ascii.IsCtl(c) && c != '\t' {
			return "", "", fmt.Errorf("line %d contains a control character", n)
		}
	}
	return string(ascii.AppendLower(nil, k)), string(v), nil
}
