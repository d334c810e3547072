package sink

import (
	"context"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// authenticated sends requests with Basic or Digest authentication (RFC 7617, RFC 7616), or with a bearer token: the
// password, if there is no user.
type authenticated struct {
	client         *http.Client
	user, password string

	mu     sync.Mutex        // guards what follows
	digest map[string]string // parameters of the last Digest challenge; nil if there was none
	count  int               // requests that answered the challenge
}

// post sends a POST request. The response has a status of success; other statuses are errors.
func (a *authenticated) post(ctx context.Context, address, contentType, body, accept string) (*http.Response, error) {
	for try := 0; ; try++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("Content-Type", contentType)
		req.Header.Set("Accept", accept)
		switch {
		case a.user != "":
			a.authorize(req)
		case a.password != "":
			req.Header.Set("Authorization", "Bearer "+a.password)
		}
		resp, err := a.client.Do(req)
		if err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, temporarily("send to the endpoint: %w", err)
		}
		if resp.StatusCode/100 == 2 {
			return resp, nil
		}
		again := resp.StatusCode == http.StatusUnauthorized && try == 0 && a.user != "" &&
			a.challenge(resp.Header.Values("WWW-Authenticate"))
		err = failure(address, resp)
		resp.Body.Close()
		if !again {
			return nil, err
		}
	}
}

// challenge keeps the first Digest challenge whose algorithm is known. It returns false if there is none.
func (a *authenticated) challenge(headers []string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, h := range headers {
		scheme, rest, _ := strings.Cut(strings.TrimSpace(h), " ")
		if !strings.EqualFold(scheme, "Digest") {
			continue
		}
		p := parameters(rest)
		if hashOf(p["algorithm"]) != nil {
			a.digest, a.count = p, 0
			return true
		}
	}
	return false
}

// authorize sets the Authorization field of a request.
func (a *authenticated) authorize(req *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.digest == nil {
		req.SetBasicAuth(a.user, a.password)
		return
	}
	a.count++
	req.Header.Set("Authorization", digestAnswer(a.digest, a.user, a.password, req.Method, req.URL, a.count, rand.Text()[:16]))
}

// digestAnswer returns the Authorization field that answers a Digest challenge with parameters p.
func digestAnswer(p map[string]string, user, password, method string, u *url.URL, count int, cnonce string) string {
	sum := func(parts ...string) string {
		h := hashOf(p["algorithm"])
		h.Write([]byte(strings.Join(parts, ":")))
		return hex.EncodeToString(h.Sum(nil))
	}
	uri, nc := u.RequestURI(), fmt.Sprintf("%08x", count)
	ha1, ha2 := sum(user, p["realm"], password), sum(method, uri)
	if strings.HasSuffix(strings.ToLower(p["algorithm"]), "-sess") {
		ha1 = sum(ha1, p["nonce"], cnonce)
	}
	qop, response := "", ""
	for _, q := range strings.Split(p["qop"], ",") {
		if strings.TrimSpace(q) == "auth" {
			qop = "auth"
		}
	}
	if qop == "" {
		response = sum(ha1, p["nonce"], ha2)
	} else {
		response = sum(ha1, p["nonce"], nc, cnonce, qop, ha2)
	}
	quote := func(s string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"` }
	out := fmt.Sprintf("Digest username=%s, realm=%s, nonce=%s, uri=%s, response=%s", quote(user), quote(p["realm"]), quote(p["nonce"]),
		quote(uri), quote(response))
	if p["algorithm"] != "" {
		out += ", algorithm=" + p["algorithm"]
	}
	if p["opaque"] != "" {
		out += ", opaque=" + quote(p["opaque"])
	}
	if qop != "" {
		out += ", qop=auth, nc=" + nc + ", cnonce=" + quote(cnonce)
	}
	return out
}

// hashOf returns the hash function of a Digest algorithm, or nil if the algorithm is not known.
func hashOf(algorithm string) hash.Hash {
	switch strings.ToUpper(strings.TrimSuffix(strings.ToLower(algorithm), "-sess")) {
	case "", "MD5":
		return md5.New()
	case "SHA-256":
		return sha256.New()
	}
	return nil
}

// parameters parses a list such as a=1, b="2". The names in the map are in lower case.
func parameters(s string) map[string]string {
	out := map[string]string{}
	for s != "" {
		name, rest, ok := strings.Cut(s, "=")
		if !ok {
			break
		}
		name = strings.ToLower(strings.Trim(name, " ,\t"))
		value := ""
		if rest = strings.TrimLeft(rest, " "); strings.HasPrefix(rest, `"`) {
			var b strings.Builder
			i := 1
			for ; i < len(rest) && rest[i] != '"'; i++ {
				if rest[i] == '\\' && i+1 < len(rest) {
					i++
				}
				b.WriteByte(rest[i])
			}
			value, s = b.String(), rest[min(i+1, len(rest)):]
		} else {
			value, s, _ = strings.Cut(rest, ",")
			value = strings.TrimSpace(value)
		}
		out[name] = value
	}
	return out
}
