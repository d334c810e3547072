package address

import (
	"context"
	"io"
	"strings"
)

type secretsKey struct{}

// WithSecrets marks texts of a request that no record may have. Taping (crawler/web/fetch) writes "[removed]" in their
// place, in the address and in the request; a response that repeats one of them is not recorded, since a record has the
// bytes of the wire or none.
func WithSecrets(ctx context.Context, texts ...string) context.Context {
	return context.WithValue(ctx, secretsKey{}, Secrets(texts))
}

// SecretsIn returns the texts that WithSecrets marked.
func SecretsIn(ctx context.Context) Secrets {
	h, _ := ctx.Value(secretsKey{}).(Secrets)
	return h
}

// Secrets are texts that no record may have.
type Secrets []string

const instead = "[removed]"

// Replace returns a text without the secrets, however they are spelled.
func (h Secrets) Replace(text string) string {
	for _, secret := range h {
		if secret == "" {
			continue
		}
		var b strings.Builder
		rest := text
		for from, to := spelled(rest, secret); from >= 0; from, to = spelled(rest, secret) {
			b.WriteString(rest[:from])
			b.WriteString(instead)
			rest = rest[to:]
		}
		if b.Len() > 0 {
			text = b.String() + rest
		}
	}
	return text
}

// Within reports whether a stream has a secret, or cannot be read.
func (h Secrets) Within(r io.Reader) bool {
	longest := 1
	for _, secret := range h {
		longest = max(longest, longestSpelling*len(secret))
	}
	buffer := make([]byte, 64<<10+longest)
	kept := 0 // bytes of the end of the last part, which may begin a secret
	for {
		n, err := io.ReadFull(r, buffer[kept:])
		part := buffer[:kept+n]
		for _, secret := range h {
			if secret == "" {
				continue
			}
			if from, _ := spelled(string(part), secret); from >= 0 {
				return true
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return false
		}
		if err != nil {
			return true
		}
		kept = copy(buffer, part[max(0, len(part)-(longest-1)):])
	}
}
