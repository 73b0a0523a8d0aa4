package userlist

import (
	"slices"
	"strings"

	"weir/internal/lang/config"
	"weir/internal/model"
)

// section is the table of the userlist section.
var section = config.NewTable("userlist")

// slowCost is how many milliseconds a check may take before a warning.
const slowCost = 10

func init() {
	section.Add(
		config.Keyword{Name: "group", Args: "<name> [users <user>,...]", Help: "declares a group of users", Parse: config.On(parseGroup)},
		config.Keyword{Name: "user", Args: "<name> [password|insecure-password <password>] [groups <group>,...]", Help: "declares a user",
			Parse: config.On(parseUser)},
	)
	config.AddSection(config.Section{
		Name: "userlist", Kind: config.InOther, Args: "<name>", Help: "users, their passwords and groups",
		Keywords: section, Open: open,
	})
}

// open starts a list; one whose line is faulty, or whose name is taken, is thrown away.
func open(l *config.Line) any {
	list, err := newList(l.Pos(), l.Arg(0))
	if err != nil {
		l.Errorf(config.KeywordArg, "no random numbers for a userlist: %s.", err)
	}
	if !l.NeedArgs(1, 1) || !l.CheckName(0, "userlist") {
		return list
	}
	cfg, ok := l.Parser().Root().(*model.Config)
	if !ok {
		return list
	}
	all := slot.Get(&cfg.Slots)
	if old := all[list.Name]; old != nil {
		l.Warnf(0, "userlist '%s' exists already, at %s; this one is ignored.", list.Name, old.Pos.Where())
		return list
	}
	if all == nil {
		all = make(map[string]*List)
		slot.Set(&cfg.Slots, all)
	}
	all[list.Name] = list
	l.Check(func(l *config.Line) {
		if len(list.Users) == 0 {
			l.Warnf(0, "userlist '%s' has no users: nobody can authenticate.", list.Name)
		}
	})
	return list
}

// splitNames cuts a comma list, without its empty names.
func splitNames(s string) []string {
	return slices.DeleteFunc(strings.Split(s, ","), func(n string) bool { return n == "" })
}

func parseGroup(l *config.Line, list *List) {
	if !l.NeedArgs(1, -1) || !l.CheckName(0, "group") {
		return
	}
	g := &Group{Pos: l.Pos(), Name: l.Arg(0)}
	if list.Group(g.Name) != nil {
		l.Warnf(0, "group '%s' exists already in userlist '%s'; this one is ignored.", g.Name, list.Name)
		return
	}
	at := 0
	for i := 1; i < l.Len(); i += 2 {
		switch {
		case l.Arg(i) != "users":
			l.Errorf(i, "'%s' is not expected here; after the name of a group only 'users <user>,...' may stand.", l.Arg(i))
			return
		case at > 0:
			l.Errorf(i, "'users' stands twice on the line of group '%s'.", g.Name)
			return
		case !l.Has(i + 1):
			l.Errorf(i+1, "'users' needs names of users, with commas between them.")
			return
		}
		at = i + 1
		g.users = splitNames(l.Arg(at))
	}
	list.Groups = append(list.Groups, g)
	l.Check(func(l *config.Line) {
		for _, name := range g.users {
			u := list.byName[name]
			if u == nil {
				l.Errorf(at, "userlist '%s' has no user '%s', whom group '%s' names.", list.Name, name, g.Name)
				continue
			}
			u.join(g.Name)
		}
	})
}

// join makes u a member of a group.
func (u *User) join(group string) {
	if !slices.Contains(u.Groups, group) {
		u.Groups = append(u.Groups, group)
	}
}

func parseUser(l *config.Line, list *List) {
	if !l.NeedArgs(1, -1) {
		return
	}
	u := &User{Pos: l.Pos(), Name: l.Arg(0)}
	if list.byName[u.Name] != nil {
		l.Warnf(0, "user '%s' exists already in userlist '%s'; this one is ignored.", u.Name, list.Name)
		return
	}
	at := 0
	for i := 1; i < l.Len(); i += 2 {
		word := l.Arg(i)
		switch word {
		case "password", "insecure-password", "groups":
		default:
			l.Errorf(i, "'%s' is not expected here; a user may have: password, insecure-password, groups.", word)
			return
		}
		if !l.Has(i + 1) {
			l.Errorf(i+1, "'%s' needs a value.", word)
			return
		}
		if word == "groups" {
			at = i + 1
			u.groups = append(u.groups, splitNames(l.Arg(at))...)
			continue
		}
		u.setPassword(l, i)
	}
	list.Users = append(list.Users, u)
	list.byName[u.Name] = u
	l.Check(func(l *config.Line) {
		for _, name := range u.groups {
			if list.Group(name) == nil {
				l.Errorf(at, "userlist '%s' has no group '%s', which user '%s' names.", list.Name, name, u.Name)
				continue
			}
			u.join(name)
		}
	})
}

// setPassword reads "password <hash>" or "insecure-password <text>" at i; the last one counts.
func (u *User) setPassword(l *config.Line, i int) {
	value := l.Arg(i + 1)
	u.usable, u.plain, u.hash = true, []byte(value), nil
	if l.Arg(i) == "insecure-password" {
		return
	}
	h, err := parseHash(value)
	if err != nil {
		l.Errorf(i+1, "password of user '%s': %s.", u.Name, err)
		u.usable = false
		return
	}
	if u.hash = h; h.cost() > slowCost {
		l.Warnf(i+1, "checking the password of user '%s' takes about %d milliseconds of CPU each time a wrong one is tried; a lighter hash serves the web better.",
			u.Name, h.cost())
	}
}
