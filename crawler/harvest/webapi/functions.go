package webapi

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
)

// functions are what an expression may apply with "|".
var functions = []string{"email", "escape", "first", "join", "json", "keys", "last", "link", "lower", "plain", "unix", "upper"}

func (n call) eval(s *scope) loose.Value {
	v := n.of.eval(s)
	if !s.step() {
		return loose.Value{}
	}
	t := v.Text()
	switch n.name {
	case "first", "last":
		list := v.List()
		if len(list) == 0 {
			return loose.Value{}
		}
		if n.name == "first" {
			return list[0]
		}
		return list[len(list)-1]
	case "json": // the text of a scalar, JSON of anything else
		if t == "" && !v.Empty() {
			t = v.JSON()
		}
	case "keys": // names of an object's members
		var names []loose.Value
		for name := range v.Members() {
			names = append(names, loose.String(name))
		}
		return loose.Array(names)
	case "join": // the texts of a list, with blanks
		t = strings.Join(v.Texts(), " ")
	case "lower":
		t = strings.ToLower(t)
	case "upper":
		t = strings.ToUpper(t)
	case "link": // only if it is an address of the web
		t = portalapi.OnlyLink(t)
	case "escape": // as a segment of a path
		t = url.PathEscape(t)
	case "email":
		t = portalapi.Email(t)
	case "plain": // without markup
		t = portalapi.Plain(t)
	case "unix": // seconds or milliseconds since 1970 as a time
		t = unixTime(t)
	}
	if t == "" {
		return loose.Value{}
	}
	return loose.String(t)
}

// unixTime returns a number of seconds, or of milliseconds from the year 1973 on, as a time in RFC 3339. It returns ""
// for other texts.
func unixTime(t string) string {
	n, err := strconv.ParseFloat(t, 64)
	if err != nil || !(n > 0 && n < 1e14) {
		return ""
	}
	if n >= 1e11 {
		n /= 1000
	}
	return time.Unix(int64(n), 0).UTC().Format(time.RFC3339)
}
