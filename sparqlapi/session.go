package sparqlapi

import (
	"net/http"
	"net/url"
	"strings"

	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
)

// Site is where browsers reach the pages. It decides who gets the cookie of a session.
type Site struct {
	Base string // address of the archive, with a final '/'
}

// secure reports whether the pages are served over TLS, by this server or a proxy.
func (s Site) secure() bool { return strings.HasPrefix(s.Base, "https:") }

// path is the path below which the cookie is sent.
func (s Site) path() string {
	u, err := url.Parse(s.Base)
	if err != nil || u.Path == "" {
		return "/"
	}
	return u.Path
}

// cookieName returns the name of the cookie. Browsers accept one that begins with __Host- only from this very host over
// TLS, so that no neighbour in the domain can plant it.
func (s Site) cookieName() string {
	if s.secure() && s.path() == "/" {
		return "__Host-odarchive-session"
	}
	return "odarchive-session"
}

// cookie returns the cookie of a session. Scripts cannot read it, and browsers send it with no request from another
// site.
func (s Site) cookie(id string) *http.Cookie {
	return &http.Cookie{Name: s.cookieName(), Value: id, Path: s.path(), HttpOnly: true, Secure: s.secure(),
		SameSite: http.SameSiteStrictMode, MaxAge: int(access.SessionTime.Seconds())}
}

// signedIn returns the caller of a session's cookie. A request that could change something must also show that a page
// of this archive has sent it: archived bytes have the same origin as the pages, but run in a sandbox without one.
func (g *Guard) signedIn(r *http.Request) (c access.Caller, ok bool) {
	cookie, err := r.Cookie(g.site.cookieName())
	if err != nil {
		return c, false
	}
	token := g.sessions.Find(cookie.Value)
	if token == nil {
		return c, false
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead && !g.fromPage(r, false) {
		return access.Caller{Refused: crossSite()}, true
	}
	return access.Caller{Name: token.Name, Rights: token.Rights, Token: token, Session: true}, true
}

func crossSite() error {
	return problem.New(http.StatusForbidden, "Not sent by a page of this archive",
		"a browser sent this from another site, or with the cookie of a session and neither Sec-Fetch-Site nor Origin")
}

// fromPage reports whether a page of this archive has sent a request, as far as the browser says. without is the answer
// for requests that say nothing, which are not those of today's browsers.
func (g *Guard) fromPage(r *http.Request, without bool) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return true
	case "":
	default:
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return without
	}
	from, err := url.Parse(origin)
	if err != nil || from.Host == "" {
		return false
	}
	base, err := url.Parse(g.site.Base)
	return from.Host == r.Host || err == nil && from.Scheme == base.Scheme && from.Host == base.Host
}

// SignIn begins a session if a token is valid, and sets its cookie.
func (g *Guard) SignIn(w http.ResponseWriter, r *http.Request, token string) error {
	if !g.fromPage(r, true) { // or another site could sign a browser in as somebody else
		return crossSite()
	}
	c := g.holder(r, token)
	if c.Refused != nil {
		return c.Refused
	}
	g.SignOut(w, r)
	w.Header().Del("Set-Cookie")
	http.SetCookie(w, g.site.cookie(g.sessions.Begin(c.Token)))
	return nil
}

// SignOut ends the session of a request that a page of this archive has sent, and removes its cookie.
func (g *Guard) SignOut(w http.ResponseWriter, r *http.Request) {
	if !g.fromPage(r, false) {
		return
	}
	if cookie, err := r.Cookie(g.site.cookieName()); err == nil {
		g.sessions.End(cookie.Value)
	}
	gone := g.site.cookie("")
	gone.MaxAge = -1
	http.SetCookie(w, gone)
}

// CanSignIn reports whether there is a token to sign in with.
func (g *Guard) CanSignIn() bool { return !g.tokens.None() }
