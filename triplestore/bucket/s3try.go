package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
)

var (
	errStalled      = errors.New("no progress for too long")
	errConflict     = errors.New("another conditional request at the same time")
	errPrecondition = errors.New("the condition does not hold")
	errRange        = errors.New("the object ends before the range")
)

// watch is the context of one request. It ends the request if it makes no progress for a while.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	stall  time.Duration
}

func newWatch(ctx context.Context, stall time.Duration) *watch {
	w := &watch{stall: stall}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(stall, func() { w.cancel(errStalled) })
	return w
}

func (w *watch) progress() { w.timer.Reset(w.stall) }

// pause stops the clock until the next progress, while the request waits for its caller.
func (w *watch) pause() { w.timer.Stop() }

func (w *watch) end() {
	w.timer.Stop()
	w.cancel(nil)
}

// try sends a request until it succeeds, fails for good, or has been tried often enough. Each attempt has a watch of
// its own, which send must end unless the request goes on.
func (b *s3) try(ctx context.Context, op, key string, send func(w *watch, attempt int) error) error {
	wait := b.o.Backoff
	for attempt := 0; ; attempt++ {
		if err := context.Cause(ctx); err != nil {
			return fmt.Errorf("bucket: %s %s: %w", op, key, err)
		}
		w := newWatch(ctx, b.o.Stall)
		err := send(w, attempt)
		if err == nil {
			return nil
		}
		stalled := context.Cause(w.ctx) == errStalled
		w.end()
		if cause := context.Cause(ctx); cause != nil {
			return fmt.Errorf("bucket: %s %s: %w", op, key, cause)
		}
		if stalled {
			err = fmt.Errorf("%w for %v: %w", errStalled, b.o.Stall, ErrUnavailable)
		} else {
			err = b.classify(err)
		}
		again := errors.Is(err, ErrUnavailable) || errors.Is(err, errConflict)
		if !again || attempt+1 >= b.o.Attempts {
			if errors.Is(err, errConflict) {
				err = errPrecondition // others keep writing
			}
			return fmt.Errorf("bucket: %s %s: %w", op, key, err)
		}
		b.log.Debug("request to the object store failed", "op", op, "key", key, "attempt", attempt+1, "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, maxBackoff)
	}
}

// classify turns an error of the client into one of this package, without secrets.
func (b *s3) classify(err error) error {
	var answer minio.ErrorResponse
	if !errors.As(err, &answer) {
		return b.network(err)
	}
	code := answer.Code
	text := b.redact(fmt.Sprintf("%.80s: %.300s (status %d)", code, answer.Message, answer.StatusCode))
	switch status := answer.StatusCode; {
	case code == "NoSuchBucket":
		return refusedError(fmt.Sprintf("the bucket %s does not exist: %s", b.name, text))
	case code == "NoSuchKey", code == "NoSuchUpload", code == "NotFound", status == http.StatusNotFound:
		return ErrNotFound
	case status == http.StatusPreconditionFailed, code == "PreconditionFailed":
		return errPrecondition
	case status == http.StatusConflict:
		return errConflict
	case status == http.StatusRequestedRangeNotSatisfiable, code == "InvalidRange":
		return errRange
	case status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout,
		code == "RequestTimeout", code == "SlowDown", code == "InternalError", code == "XAmzContentSHA256Mismatch",
		code == "IncompleteBody",
		code == "BadDigest":
		return fmt.Errorf("%s: %w", text, ErrUnavailable)
	case code == "RequestTimeTooSkewed", code == "RequestExpired", code == "ExpiredToken", code == "ExpiredTokenException",
		code == "TokenRefreshRequired":
		return errors.New(text) // a clock may be set, and a token replaced in the file of credentials
	case status >= 400, status == http.StatusMovedPermanently:
		return refusedError(text)
	}
	return errors.New(text)
}

// refusedError is an ErrRefused that says why.
type refusedError string

func (e refusedError) Error() string { return string(e) }

// Is reports whether target is ErrRefused.
func (e refusedError) Is(target error) bool { return target == ErrRefused }

// network returns an error that came from the connection, not from the store.
func (b *s3) network(err error) error {
	var failed net.Error
	var op *net.OpError
	if errors.As(err, &failed) || errors.As(err, &op) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) ||
		strings.Contains(err.Error(), "Connection closed by foreign host") ||
		strings.Contains(err.Error(), "http: server closed idle connection") ||
		strings.Contains(err.Error(), "connection reset") || strings.Contains(err.Error(), "transport connection broken") {
		return fmt.Errorf("%s: %w", b.redact(err.Error()), ErrUnavailable)
	}
	return errors.New(b.redact(err.Error()))
}

// explain describes an error in the middle of a download.
func (b *s3) explain(w *watch, err error) error {
	switch cause := context.Cause(w.ctx); {
	case cause == errStalled:
		return fmt.Errorf("%w for %v: %w", errStalled, b.o.Stall, ErrUnavailable)
	case cause != nil:
		return cause
	}
	return fmt.Errorf("%s: %w", b.redact(err.Error()), ErrUnavailable)
}

// redact removes credentials from what a server said.
func (b *s3) redact(text string) string {
	for _, secret := range b.secrets {
		if len(secret) > 3 {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}
