package errorpages

import (
	"fmt"
	"strings"
	"testing"

	"weir/internal/model"
)

// The bytes of HAProxy 3.5 for what its HTTP/1 side answers by itself.
func TestBuiltinOnTheWire(t *testing.T) {
	for status, want := range map[int]string{
		400: "HTTP/1.1 400 Bad request\r\ncontent-length: 90\r\ncache-control: no-cache\r\nconnection: close\r\ncontent-type: text/html\r\n\r\n" +
			"<html><body><h1>400 Bad request</h1>\nYour browser sent an invalid request.\n</body></html>\n",
		408: "HTTP/1.1 408 Request Time-out\r\ncontent-length: 110\r\ncache-control: no-cache\r\nconnection: close\r\ncontent-type: text/html\r\n\r\n" +
			"<html><body><h1>408 Request Time-out</h1>\nYour browser didn't send a complete request in time.\n</body></html>\n",
		413: "HTTP/1.1 413 Payload Too Large\r\ncontent-length: 106\r\ncache-control: no-cache\r\ncontent-type: text/html\r\n\r\n" +
			"<html><body><h1>413 Payload Too Large</h1>\nThe request entity exceeds the maximum allowed.\n</body></html>\n",
	} {
		if got := string(AppendHTTP1(nil, Builtin(status))); got != want {
			t.Errorf("%d:\n got %q\nwant %q", status, got, want)
		}
	}
}

func TestBuiltinStatusesAndSizes(t *testing.T) {
	sizes := map[int]int{200: 58, 400: 90, 401: 112, 403: 93, 404: 83, 405: 147, 407: 112, 408: 110, 410: 114, 413: 106, 414: 110,
		421: 104, 422: 116, 425: 80, 429: 117, 431: 105, 500: 97, 501: 135, 502: 107, 503: 107, 504: 92}
	if got := Statuses(); len(got) != len(sizes) || got[0] != 200 || got[len(got)-1] != 504 {
		t.Errorf("statuses: %v", got)
	}
	for status, size := range sizes {
		p := Builtin(status)
		if p == nil || p.Status != status || p.Code != status || p.Empty || p.HTTP10 || p.LengthAt != 0 {
			t.Errorf("%d: %+v", status, p)
			continue
		}
		if len(p.Body) != size {
			t.Errorf("%d: a body of %d bytes, want %d", status, len(p.Body), size)
		}
		if !strings.HasPrefix(string(p.Body), fmt.Sprintf("<html><body><h1>%d %s</h1>\n", status, p.Reason)) {
			t.Errorf("%d: %q", status, p.Body)
		}
		if p.Close != (status == 400 || status == 408) {
			t.Errorf("%d: close is %v", status, p.Close)
		}
	}
	for _, status := range []int{0, 100, 204, 302, 402, 505, -1} {
		if Builtin(status) != nil {
			t.Errorf("a page for %d", status)
		}
	}
}

func TestWireForms(t *testing.T) {
	page := func(at int, fields ...[2]string) *model.ErrorPage {
		return &model.ErrorPage{Status: 403, Code: 403, Reason: "x", LengthAt: at, Fields: fields, Body: []byte("body")}
	}
	a, ct := [2]string{"x-a", "b"}, [2]string{"content-type", "text/plain"}
	for name, tc := range map[string]struct {
		page *model.ErrorPage
		want string
	}{
		"no length":      {page(-1, a), "HTTP/1.1 403 x\r\nx-a: b\r\n\r\nbody"},
		"length first":   {page(0, a), "HTTP/1.1 403 x\r\ncontent-length: 4\r\nx-a: b\r\n\r\nbody"},
		"length last":    {page(1, a), "HTTP/1.1 403 x\r\nx-a: b\r\ncontent-length: 4\r\n\r\nbody"},
		"length between": {page(1, a, ct), "HTTP/1.1 403 x\r\nx-a: b\r\ncontent-length: 4\r\ncontent-type: text/plain\r\n\r\nbody"},
		"only a length":  {page(0), "HTTP/1.1 403 x\r\ncontent-length: 4\r\n\r\nbody"},
		"HTTP/1.0":       {&model.ErrorPage{Code: 404, HTTP10: true, LengthAt: -1}, "HTTP/1.0 404 Not Found\r\n\r\n"},
		"closing":        {&model.ErrorPage{Code: 403, Reason: "x", Close: true, LengthAt: -1, Fields: [][2]string{a}}, "HTTP/1.1 403 x\r\nx-a: b\r\nconnection: close\r\n\r\n"},
		"empty":          {&model.ErrorPage{Status: 403, Empty: true}, ""},
		"redirect": {&model.ErrorPage{Code: 302, Reason: "Found", LengthAt: 1, Fields: [][2]string{{"cache-control", "no-cache"}, {"location", "/bad"}}},
			"HTTP/1.1 302 Found\r\ncache-control: no-cache\r\ncontent-length: 0\r\nlocation: /bad\r\n\r\n"},
	} {
		if got := string(AppendHTTP1(nil, tc.page)); got != tc.want {
			t.Errorf("%s:\n got %q\nwant %q", name, got, tc.want)
		}
	}
}

func TestResolve(t *testing.T) {
	own := func(name string, statuses ...int) map[int]*model.ErrorPage {
		m := make(map[int]*model.ErrorPage)
		for _, s := range statuses {
			m[s] = &model.ErrorPage{Status: s, Code: s, Reason: name}
		}
		return m
	}
	cfg := &model.Config{HTTPErrors: map[string]*model.HTTPErrors{
		"one": {Name: "one", Pages: own("one", 403, 404, 503)},
		"two": {Name: "two", Pages: own("two", 404, 503)},
	}}
	use := func(name string, codes ...int) model.ErrorSection {
		return model.ErrorSection{Name: name, Codes: codes}
	}
	except := use("one")
	except.Except = []int{503}
	for name, tc := range map[string]struct {
		p    model.Proxy
		want map[int]string // reason by status; "": no page
	}{
		"built-in":         {model.Proxy{Sides: model.SideFrontend}, map[int]string{200: "OK", 503: "Service Unavailable", 402: ""}},
		"own":              {model.Proxy{Sides: model.SideFrontend, Errors: own("mine", 503)}, map[int]string{503: "mine", 403: "Forbidden"}},
		"section over own": {model.Proxy{Sides: model.SideFrontend, Errors: own("mine", 503, 500), ErrorSections: []model.ErrorSection{use("one")}}, map[int]string{503: "one", 500: "mine", 504: "Gateway Time-out"}},
		"own after section": {model.Proxy{Sides: model.SideFrontend, Errors: own("mine", 503), ErrorSections: []model.ErrorSection{except}},
			map[int]string{503: "mine", 403: "one"}},
		"some codes":      {model.Proxy{Sides: model.SideFrontend, ErrorSections: []model.ErrorSection{use("one", 404)}}, map[int]string{404: "one", 403: "Forbidden"}},
		"last one counts": {model.Proxy{Sides: model.SideFrontend, ErrorSections: []model.ErrorSection{use("one"), use("two")}}, map[int]string{404: "two", 403: "one"}},
		"unknown section": {model.Proxy{Sides: model.SideFrontend, ErrorSections: []model.ErrorSection{use("three")}}, map[int]string{404: "Not Found"}},
		"backend":         {model.Proxy{Sides: model.SideBackend, Errors: own("mine", 503)}, map[int]string{503: "mine", 403: ""}},
		"listen":          {model.Proxy{Sides: model.SideFrontend | model.SideBackend, Errors: own("mine", 503)}, map[int]string{503: "mine", 403: "Forbidden"}},
	} {
		table := Resolve(&tc.p, cfg)
		for status, want := range tc.want {
			got := ""
			if p := table.Page(status); p != nil {
				got = p.Reason
			}
			if got != want {
				t.Errorf("%s: page %d is %q, want %q", name, status, got, want)
			}
		}
	}
	listen := &model.Proxy{Sides: model.SideFrontend | model.SideBackend, Errors: own("mine", 503)}
	if b := Backend(listen, cfg); b.Page(503).Reason != "mine" || b.Page(403) != nil {
		t.Error("a listen section as a backend has built-in pages")
	}
}
