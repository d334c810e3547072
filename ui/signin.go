package ui

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
)

// Guard signs browsers in and out, and says who may give orders.
type Guard interface {
	// CheckToken returns nil if whoever sends a request has a right: because of the session of the browser, or of the
	// token, which may be "".
	CheckToken(r *http.Request, token string, right access.Right) error
	SignIn(w http.ResponseWriter, r *http.Request, token string) error
	SignOut(w http.ResponseWriter, r *http.Request)
	CanSignIn() bool
}

// signInPage is the data of the page.
type signInPage struct {
	Can    bool
	Who    string // "" if nobody has signed in
	Rights []string
	To     string // where to go then
	Error  string
}

// signInPage answers GET /sign-in?to=PATH.
func (u *UI) signInPage(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	return u.renderSignIn(w, r, http.StatusOK, signInPage{To: localPath(r.URL.Query().Get("to"))})
}

// signIn answers POST /sign-in. The token goes into no page and no address.
func (u *UI) signIn(w http.ResponseWriter, r *http.Request) error {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	w.Header().Set("Cache-Control", "no-store")
	page := signInPage{To: "/"}
	if err := r.ParseForm(); err != nil {
		page.Error = "The form cannot be read."
		return u.renderSignIn(w, r, http.StatusBadRequest, page)
	}
	page.To = localPath(r.PostForm.Get("to"))
	if u.guard == nil {
		page.Error = "This server takes no orders."
		return u.renderSignIn(w, r, http.StatusForbidden, page)
	}
	if err := u.guard.SignIn(w, r, strings.TrimSpace(r.PostForm.Get("token"))); err != nil {
		p, ok := errors.AsType[*problem.Error](err)
		if !ok {
			return err
		}
		if p.RetryAfter > 0 {
			return err
		}
		page.Error = "This is not a token of this server."
		if p.Detail != "" {
			page.Error = strings.ToUpper(p.Detail[:1]) + p.Detail[1:] + "."
		}
		return u.renderSignIn(w, r, p.Status, page)
	}
	redirect(w, page.To)
	return nil
}

// redirect sends the client to an address of this server as it is: http.Redirect would make one of two slashes, which
// the addresses of others in paths have.
func redirect(w http.ResponseWriter, address string) {
	var escaped strings.Builder
	for _, b := range []byte(address) {
		if b <= ' ' || b >= 0x7F {
			fmt.Fprintf(&escaped, "%%%02X", b)
		} else {
			escaped.WriteByte(b)
		}
	}
	w.Header().Set("Location", escaped.String())
	w.WriteHeader(http.StatusSeeOther)
}

// signOut answers POST /sign-out.
func (u *UI) signOut(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-store")
	if u.guard != nil {
		u.guard.SignOut(w, r)
	}
	redirect(w, "/sign-in")
	return nil
}

func (u *UI) renderSignIn(w http.ResponseWriter, r *http.Request, status int, page signInPage) error {
	page.Can = u.guard != nil && u.guard.CanSignIn()
	c, _ := access.Of(r.Context())
	if c.Session {
		page.Who, page.Rights = c.Name, c.Rights.Names()
	}
	return u.render(w, r, status, "signin", view{Title: "Sign in", Section: "/sign-in", Page: page})
}

// localPath returns a path of this server, or "/" for anything that a browser might take for an address elsewhere.
func localPath(to string) string {
	parsed, err := url.Parse(to)
	if err != nil || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.Contains(to, "\\") || parsed.Host != "" ||
		parsed.Scheme != "" {
		return "/"
	}
	return to
}

// may reports whether forms for orders are shown: the server takes some.
func (u *UI) may() bool { return u.guard != nil && u.guard.CanSignIn() }

// signed reports whether a browser has signed in as somebody with a right, so that forms need no token.
func signed(r *http.Request, right access.Right) bool {
	c, _ := access.Of(r.Context())
	return c.Session && c.Rights.Has(right)
}
