// Package httpcache judges whether a cache between a server and its clients may keep a response (RFC 9111), as the
// reference sees it: what must not be shared has to be marked when it is about to be.
package httpcache

import (
	"weir/internal/base/ascii"
	"weir/internal/wire/msg"
)

// Shared reports whether caches may keep res, the response to a request of the given method: a method and a status that
// are cacheable or "public", nothing that forbids it, and something that tells how long it is good for.
func Shared(method msg.Method, res *msg.Message) bool {
	may := cacheable(method, res.Status)
	for i := res.Find("pragma", 0); i >= 0; i = res.Find("pragma", i+1) {
		if ascii.EqualFoldString(res.Fields[i].Value, "no-cache") {
			return false
		}
	}
	fresh := res.Has("expires") || res.Has("etag") || res.Has("last-modified")
	for it := res.List("cache-control"); it.Next(); {
		switch v := it.Value; {
		case is(v, "no-store"), is(v, "private"), ascii.EqualFoldString(v, "max-age=0"), ascii.EqualFoldString(v, "s-maxage=0"):
			return false
		case is(v, "no-cache"):
			if !ascii.HasPrefixFold(v, `no-cache="set-cookie`) { // with that, all but the cookie may be kept
				return false
			}
		case is(v, "public"):
			may = true
		case is(v, "max-age"), is(v, "s-maxage"):
			fresh = true
		}
	}
	return may && fresh
}

// cacheable reports whether responses of that status to requests of that method may be kept unless they say otherwise.
func cacheable(method msg.Method, status int) bool {
	switch method {
	case msg.GET, msg.HEAD, msg.OPTIONS, msg.TRACE:
	default:
		return false
	}
	switch status {
	case 200, 203, 204, 206, 300, 301, 404, 405, 410, 414, 501:
		return true
	}
	return false
}

// SharesCookie reports whether caches may keep res together with a cookie that it sets.
func SharesCookie(method msg.Method, res *msg.Message) bool {
	if !res.Has("set-cookie") || !Shared(method, res) {
		return false
	}
	for it := res.List("cache-control"); it.Next(); {
		if is(it.Value, "no-cache") {
			return false
		}
	}
	return true
}

// is reports whether a directive has this name.
func is(v []byte, name string) bool {
	return ascii.HasPrefixFold(v, name) && (len(v) == len(name) || v[len(name)] == '=')
}
