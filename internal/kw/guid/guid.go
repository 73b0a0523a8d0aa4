// Package guid keeps the global unique ids of proxies, servers and listeners
// apart (manual 4.2, "guid").
package guid

import (
	"fmt"

	"weir/internal/base/ascii"
	"weir/internal/lang/config"
	"weir/internal/model"
)

// MaxLen is the longest id, in bytes.
const MaxLen = 127

var ownersOf = &model.SlotKey[map[string]string]{Name: "guid"}

// Valid reports argument i when it cannot be an id.
func Valid(l *config.Line, i int) bool {
	id := l.Arg(i)
	switch {
	case id == "":
		l.Errorf(i, "'%s' expects an id.", l.Name())
		return false
	case len(id) > MaxLen:
		l.Errorf(i, "the id is %d characters long; at most %d are allowed.", len(id), MaxLen)
		return false
	}
	for j := range len(id) {
		if c := id[j]; !ascii.IsAlnum(c) && c != '.' && c != ':' && c != '-' && c != '_' {
			l.Errorf(i, "character %q is not allowed in an id; letters, digits, '.', ':', '-' and '_' are.", c)
			return false
		}
	}
	return true
}

// Claim takes the id in argument i for an object, which owner describes. It
// reports an id that is malformed or taken and returns false.
func Claim(l *config.Line, i int, owner string) bool {
	return Valid(l, i) && claim(l, i, l.Arg(i), owner)
}

// ClaimPrefix takes the first id that a listener's prefix gives.
func ClaimPrefix(l *config.Line, i int, owner string) bool {
	return Valid(l, i) && claim(l, i, l.Arg(i)+"-1", owner)
}

func claim(l *config.Line, i int, id, owner string) bool {
	slots := &l.Parser().Root().(*model.Config).Global.Slots
	owners := ownersOf.Get(slots)
	if owners == nil {
		owners = make(map[string]string)
		ownersOf.Set(slots, owners)
	}
	if old, taken := owners[id]; taken {
		l.Errorf(i, "the id '%s' is already that of %s.", id, old)
		return false
	}
	owners[id] = fmt.Sprintf("%s at %s", owner, l.Pos().Where())
	return true
}
