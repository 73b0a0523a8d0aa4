package conv

import (
	"bytes"
	"strings"

	"weir/internal/base/ascii"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	sample.AddConv(sample.Conv{Name: "language", Args: "string[,string]", In: model.TypeStr, Out: model.TypeStr, Check: checkLanguage, Run: language,
		Help: "the language of the given list (delimited by ';') that an accept-language header prefers, else the default"})
}

// languages are the values of the list.
type languages [][]byte

func checkLanguage(_ *sample.ArgCheck, a []sample.Arg) error {
	keepBytes(a, 1)
	list := new(languages)
	for s := range strings.SplitSeq(a[0].Str, ";") {
		if s != "" {
			*list = append(*list, []byte(s))
		}
	}
	a[0].Data = list
	return nil
}

// find returns the first language of the list that an item of the header names, or whose variant it names, and what
// follows the item's semicolon; nil when there is none or the item has something else behind its name.
func (l *languages) find(item []byte) (lang, params []byte) {
	item = ascii.TrimLeft(item)
	n := 0
	for n < len(item) && item[n] != ';' && !ascii.IsBlank(item[n]) {
		n++
	}
	token, params := item[:n], ascii.TrimLeft(item[n:])
	if len(params) > 0 {
		if params[0] != ';' {
			return nil, nil
		}
		params = params[1:]
	}
	for _, lang = range *l {
		if bytes.HasPrefix(token, lang) && (len(token) == len(lang) || token[len(lang)] == '-') {
			return lang, params
		}
	}
	return nil, nil
}

// language follows the manual: the reference loses the language after one whose quality is written "q=0,".
func language(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
	list, _ := a[0].Data.(*languages)
	var best []byte
	quality := 0
	for rest := v.B; len(rest) > 0 && quality < 1000; {
		item := rest
		if i := bytes.IndexByte(rest, ','); i >= 0 {
			item, rest = rest[:i], rest[i+1:]
		} else {
			rest = nil
		}
		lang, params := list.find(item)
		if lang == nil {
			continue
		}
		if q := qualityOf(params); q > quality {
			best, quality = lang, q
		}
	}
	if best == nil {
		if best = bytesOf(a, 1); len(best) == 0 {
			return false
		}
	}
	return setConst(v, best)
}

// qualityOf reads "q=0.5" at the start of parameters in thousandths; everything else counts 1000.
func qualityOf(b []byte) int {
	b = ascii.TrimLeft(b)
	if len(b) == 0 || b[0] != 'q' {
		return 1000
	}
	b = ascii.TrimLeft(b[1:])
	if len(b) == 0 || b[0] != '=' {
		return 1000
	}
	b = ascii.TrimLeft(b[1:])
	if len(b) == 0 || b[0] != '0' {
		return 1000
	}
	q := 0
	if len(b) > 1 && b[1] == '.' {
		unit := 100
		for _, c := range b[2:] {
			if !ascii.IsDigit(c) || unit == 0 {
				break
			}
			q += int(c-'0') * unit
			unit /= 10
		}
	}
	return q
}
