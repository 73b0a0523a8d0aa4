package regex

import (
	"regexp"
	"strings"
	"testing"
)

const agent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.2592.87"

var benches = []struct{ name, pattern, text string }{
	{"path", `^/(api|static|img)/v[0-9]+/[^/?]+\.(js|css|png|jpe?g)$`, "/static/v12/application.bundle.min.js"},
	{"host", `(?i)^(www\.|m\.)?([a-z0-9-]+)\.example\.(com|net|org)$`, "www.Shop-Front.Example.COM"},
	{"agent", `(?i)(bot|crawl|spider|slurp|curl|wget|python-requests)`, agent},
	{"prefix", `^/admin/`, "/static/v12/application.bundle.min.js"},
	{"rewrite", `^/foo/(.*)$`, "/foo/bar/baz/index.html?with=a&query=string"},
	{"look", `^/(?!admin|private)([a-z]+)/(?=.*\.php$).*\1`, "/public/some/where/public.php"},
}

// BenchmarkMatch measures Match, and as a ratio the standard library's on patterns that it takes.
func BenchmarkMatch(b *testing.B) {
	for _, c := range benches {
		r, err := Compile(c.pattern, 0)
		if err != nil {
			b.Fatal(err)
		}
		text := []byte(c.text)
		b.Run(c.name+"/"+r.Engine(), func(b *testing.B) {
			for b.Loop() {
				r.Match(text)
			}
		})
		if std, err := regexp.Compile(c.pattern); err == nil {
			b.Run(c.name+"/std", func(b *testing.B) {
				for b.Loop() {
					std.Match(text)
				}
			})
		}
	}
}

// BenchmarkFind measures FindSubmatchIndex.
func BenchmarkFind(b *testing.B) {
	for _, c := range benches {
		r, err := Compile(c.pattern, 0)
		if err != nil {
			b.Fatal(err)
		}
		text := []byte(c.text)
		b.Run(c.name, func(b *testing.B) {
			var fixed [20]int
			for b.Loop() {
				r.FindSubmatchIndex(fixed[:0], text, 0)
			}
		})
	}
}

// BenchmarkWords measures a choice of ten thousand words.
func BenchmarkWords(b *testing.B) {
	var words []string
	for i := range 10_000 {
		words = append(words, strings.Repeat(string(rune('a'+i%26)), 3)+strings.Repeat(string(rune('a'+i/26%26)), 1+i/676)+"x")
	}
	r, err := Compile(strings.Join(words, "|"), IgnoreCase)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r.Match([]byte(agent))
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		if _, err := Compile(benches[0].pattern, 0); err != nil {
			b.Fatal(err)
		}
	}
}
