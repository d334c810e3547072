package hosts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"odarchive/crawler/address"
	"odarchive/triplestore/kv"
)

// Settings are the values for one host.
type Settings struct {
	Delay         time.Duration
	Parallel      int           // at least 1
	Group         string        // the hosts with the same group share delay and parallel; "" for the host alone
	MaxCrawlDelay time.Duration // 0: Crawl-delay is not heeded
	Daily         Daily
	Retries       int
	MaxBody       int64 // 0 for the program's

	UserAgent  string // "" for the program's
	Headers    map[string]string
	Secret     *Secret // nil for none
	Unverified bool
	Proxy      *Proxy // nil for none
	Resolve    Place  // zero: the name decides

	Robots *Exception // nil: robots.txt is obeyed
	Paused string     // why the host is not asked; "" if it is
}

// Exception is a permission to ignore a host's robots.txt.
type Exception struct{ By, Why string }

// String returns the sentence that visits record.
func (e Exception) String() string {
	return "robots.txt is ignored by permission of " + e.By + ": " + e.Why
}

// Options of a Book.
type Options struct {
	DB      *kv.DB             // stores the rules that orders set; nil keeps them in memory
	Base    Settings           // of hosts without rules
	File    []Rule             // of the settings file
	Flags   []Rule             // of the command line, with precedence over all others for the same Match
	Secrets map[string]*Secret // of the secrets file
	// ProxySecret is the section with the login of Base.Proxy, "" for none.
	ProxySecret string
	Changed     func()       // is called after rules have changed; may be nil. It must not call the Book
	Log         *slog.Logger // nil discards
}

// Book has the rules of all hosts. Its methods may be called concurrently.
type Book struct {
	opts Options
	now  atomic.Pointer[table]

	mu      sync.Mutex // guards what follows, and is held while rules change
	base    Settings   // of hosts without rules, without the proxy's login
	login   string     // section with the login of base.Proxy, "" for none
	file    []Rule
	stored  map[string]Rule
	secrets map[string]*Secret
}

// ErrUnknown is the error for a rule that is not there.
var ErrUnknown = errors.New("there is no such rule")

// ErrBad is the error for a rule that is malformed, or names a missing secret.
var ErrBad = errors.New("not a setting of hosts")

// NewBook loads the stored rules and returns a Book. It fails if a rule of the file is malformed or names a secret that
// is not there.
func NewBook(opts Options) (*Book, error) {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	b := &Book{opts: opts, base: opts.Base, login: opts.ProxySecret, stored: map[string]Rule{}}
	if opts.DB != nil {
		err := opts.DB.View(func(txn *kv.Txn) error {
			return txn.Scan(kv.SpacePoliteness, []byte{keyRule}, []byte{keyRule}, func(key, val []byte) (bool, error) {
				var r Rule
				if err := json.Unmarshal(val, &r); err != nil || r.Check() != nil {
					opts.Log.Error("a stored setting of hosts cannot be read and does not apply", "match", string(key[1:]), "error", err)
					return true, nil
				}
				b.stored[r.Match] = r
				return true, nil
			})
		})
		if err != nil {
			return nil, fmt.Errorf("settings of hosts: %w", err)
		}
	}
	for _, r := range opts.Flags {
		if err := r.Check(); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrBad, err)
		}
	}
	if err := b.Replace(opts.Base, opts.ProxySecret, opts.File, opts.Secrets); err != nil {
		return nil, err
	}
	return b, nil
}

// keyRule, followed by Match, is the key of a stored rule in kv.SpacePoliteness. Package politeness uses other letters.
const keyRule = 's'

// Of returns the values for a host, as address.Host returns it.
func (b *Book) Of(host string) Settings {
	t := b.now.Load()
	s := t.base
	t.each(host, func(r *entry) { r.apply(&s) })
	return s
}

// Replace replaces what NewBook's Options set: the values of hosts without rules, the section with the login of their
// proxy, the rules of the file, and the secrets. After an error, the old ones stay.
func (b *Book) Replace(base Settings, proxySecret string, file []Rule, secrets map[string]*Secret) error {
	base.Parallel = max(1, base.Parallel)
	if len(file) > maxRules {
		return fmt.Errorf("%w: more than %d rules", ErrBad, maxRules)
	}
	file = slices.Clone(file)
	seen := map[string]bool{}
	for i, r := range file {
		if err := r.Check(); err != nil {
			return fmt.Errorf("%w: %w", ErrBad, err)
		}
		if err := namesKnown(r, secrets); err != nil {
			return fmt.Errorf("%w: %w", ErrBad, err)
		}
		if file[i].Match = canonical(r.Match); seen[file[i].Match] {
			return fmt.Errorf("%w: the file has two [[host]] tables for %s", ErrBad, r.Match)
		}
		seen[file[i].Match] = true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	before, login := b.base, b.login
	b.base, b.login = base, proxySecret
	t, err := b.table(file, b.stored, secrets)
	if err != nil {
		b.base, b.login = before, login
		return err
	}
	b.file, b.secrets = file, secrets
	b.replace(t)
	return nil
}

// namesKnown returns an error if a rule names a secret that is not there.
func namesKnown(r Rule, secrets map[string]*Secret) error {
	for _, name := range []string{r.Secret, r.ProxySecret} {
		if name != "" && secrets[name] == nil {
			return fmt.Errorf("host %q: the secrets file has no section %q", r.Match, name)
		}
	}
	return nil
}

// replace makes a table the current one. The caller holds mu.
func (b *Book) replace(t *table) {
	b.now.Store(t)
	if b.opts.Changed != nil {
		b.opts.Changed()
	}
}

// Set stores a rule, in place of an earlier one with the same Match. It has effect from the next request on.
func (b *Book) Set(ctx context.Context, r Rule) error {
	r.Match = canonical(r.Match)
	if err := r.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrBad, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := namesKnown(r, b.secrets); err != nil {
		return fmt.Errorf("%w: %w", ErrBad, err)
	}
	return b.store(ctx, r.Match, &r)
}

// Remove removes a stored rule. What the file says of the hosts applies again.
func (b *Book) Remove(ctx context.Context, match string) error {
	match = canonical(match)
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.stored[match]; !ok {
		return fmt.Errorf("%w: no order has set anything for %q", ErrUnknown, match)
	}
	return b.store(ctx, match, nil)
}

// Change calls change with the stored rule for match, an empty one if there is none, and stores the result.
func (b *Book) Change(ctx context.Context, match string, change func(*Rule) error) (Rule, error) {
	match = canonical(match)
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.stored[match]
	r.Match, r.Headers = match, maps.Clone(r.Headers)
	if err := change(&r); err != nil {
		return r, fmt.Errorf("%w: %w", ErrBad, err)
	}
	if err := cmp.Or(r.Check(), namesKnown(r, b.secrets)); err != nil {
		return r, fmt.Errorf("%w: %w", ErrBad, err)
	}
	return r, b.store(ctx, match, &r)
}

// Pause stops asking the hosts of match, across restarts.
func (b *Book) Pause(ctx context.Context, match, why string) error {
	_, err := b.Change(ctx, match, func(r *Rule) error {
		why = cmp.Or(why, "paused")
		r.Paused = &why
		return nil
	})
	return err
}

// Resume ends a pause of the hosts of match, also one of the file. It does not end that of a rule for other hosts,
// among them these.
func (b *Book) Resume(ctx context.Context, match string) error {
	_, err := b.Change(ctx, match, func(r *Rule) error {
		r.Paused = nil
		for _, f := range b.file {
			if f.Match == r.Match && deref(f.Paused) != "" {
				r.Paused = new(string)
			}
		}
		return nil
	})
	return err
}

// store stores a rule or, if it is nil or sets nothing, removes it. The caller holds mu.
func (b *Book) store(ctx context.Context, match string, r *Rule) error {
	next := maps.Clone(b.stored)
	if delete(next, match); r != nil && !r.empty() {
		next[match] = *r
	}
	if len(next) > maxRules {
		return fmt.Errorf("%w: more than %d rules", ErrBad, maxRules)
	}
	t, err := b.table(b.file, next, b.secrets)
	if err != nil {
		return err
	}
	if b.opts.DB != nil {
		err := b.opts.DB.Update(ctx, func(txn *kv.Txn) error {
			key := append([]byte{keyRule}, match...)
			kept, ok := next[match]
			if !ok {
				return txn.Delete(kv.SpacePoliteness, key)
			}
			val, err := json.Marshal(kept)
			if err != nil {
				return err
			}
			return txn.Set(kv.SpacePoliteness, key, val)
		})
		if err != nil {
			return fmt.Errorf("settings of %s: %w", match, err)
		}
	}
	b.stored = next
	b.replace(t)
	return nil
}

// empty reports whether a rule sets nothing.
func (r Rule) empty() bool {
	raw, err := json.Marshal(Rule{Match: r.Match})
	own, err2 := json.Marshal(r)
	return err == nil && err2 == nil && string(raw) == string(own)
}

// Origin is where a rule comes from.
type Origin string

// The origins of rules.
const (
	FromFile  Origin = "file"
	FromOrder Origin = "order"
	FromFlag  Origin = "flag"
)

// Listed is a rule with its origin.
type Listed struct {
	Rule
	From Origin `json:"from"`
	// Broken says why the hosts of the rule are not asked: it names a secret that the file does not have any more.
	Broken string `json:"broken,omitempty"`
}

// List returns all rules, the least specific first.
func (b *Book) List() []Listed {
	list := []Listed{} // [] in JSON
	b.now.Load().all(func(e *entry) {
		list = append(list, Listed{Rule: e.rule, From: e.from, Broken: e.broken})
	})
	return list
}

// For returns the rules that concern a host, in the order in which they apply: later ones have precedence.
func (b *Book) For(host string) []Listed {
	list := []Listed{}
	b.now.Load().each(address.HostGroup(host), func(e *entry) {
		list = append(list, Listed{Rule: e.rule, From: e.from, Broken: e.broken})
	})
	return list
}
