package app

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/crawler/archive/transparency"
	"odarchive/crawler/exchange/timestamp"
)

const (
	// lookForKeyEvery is how often keepEvidence looks whether there is something to sign, and asks again who has not
	// vouched.
	lookForKeyEvery = 10 * time.Minute
	// vouchTime bounds what one witness or authority takes to answer.
	vouchTime = time.Minute
)

// keepEvidence signs the transparency log as often as the settings say, if it has grown, and asks the witnesses and the
// authority of the settings to vouch for its latest checkpoint, until ctx ends. Without a key it waits for one.
func (n *Node) keepEvidence(ctx context.Context) error {
	failed := map[string]string{} // what was said last about each job, so that it is said once
	say := func(job string, err error) {
		if err == nil || errors.Is(err, transparency.ErrNoKey) || ctx.Err() != nil {
			delete(failed, job)
			return
		}
		if failed[job] != err.Error() {
			failed[job] = err.Error()
			n.Log.Error(job, "error", err)
		}
	}
	for {
		say("the transparency log is not signed", n.SignIfDue(ctx))
		say("the checkpoint of the transparency log is not vouched for", n.Vouch(ctx))
		select {
		case <-time.After(min(n.Config.Evidence.SignEvery, lookForKeyEvery)):
		case <-n.Signed():
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Vouch asks the witnesses and the authority of the settings to vouch for the latest checkpoint of the transparency
// log, as far as they have not done so recently.
func (n *Node) Vouch(ctx context.Context) error {
	latest, ok, err := n.Checkpoint()
	if err != nil || !ok {
		return err
	}
	witnesses, err := n.Config.LogWitnesses()
	if err != nil {
		return err
	}
	var errs []error
	for _, w := range witnesses {
		if w.Address != "" {
			errs = append(errs, n.askWitness(ctx, w, latest))
		}
	}
	if n.Config.Evidence.TSA != "" && len(latest.TimeStamp) == 0 {
		roots, err := n.Config.TSATrusted()
		if err == nil {
			_, err = n.TimeStamp(ctx, latest, n.Config.Evidence.TSA, roots)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// askWitness asks a witness to cosign a checkpoint, unless it has done so recently.
func (n *Node) askWitness(ctx context.Context, w config.Witness, latest transparency.Checkpoint) error {
	if at, ok := transparency.CosignedAt(latest.Note, w.Key); ok && n.Clock().Sub(at) < max(n.Config.Evidence.SignEvery, lookForKeyEvery) {
		return nil
	}
	var last int64
	err := transparency.View(n.DB, func(t transparency.Txn) (err error) { last, err = t.LastCosigned(ctx, w.Key); return err })
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, vouchTime)
	defer cancel()
	cosigned, err := transparency.Submit(ctx, n.vouchClient(), w.Address, w.Key, latest.Note, last, transparency.ProverOf(n.DB))
	if err != nil {
		return err
	}
	_, err = transparency.AddCosignatures(ctx, n.DB, cosigned, []transparency.Verifier{w.Key})
	if err == nil {
		n.Log.Info("transparency log cosigned", "versions", latest.Size, "witness", w.Key.Name())
	}
	return err
}

// TimeStamp asks the authority at an address to stamp a checkpoint, with a certificate that leads to one of
// the roots, and stores its answer.
func (n *Node) TimeStamp(ctx context.Context, c transparency.Checkpoint, address string, roots *x509.CertPool) (s timestamp.Stamp,
	err error) {
	digest, err := transparency.StampDigest(c.Note)
	if err != nil {
		return s, err
	}
	response, s, err := timestamp.Ask(ctx, n.vouchClient(), address, digest, roots, n.Clock())
	if err != nil {
		return s, err
	}
	if err := transparency.SetTimeStamp(ctx, n.DB, c.Note, response); err != nil {
		return s, fmt.Errorf("time stamp: %w", err)
	}
	n.Log.Info("transparency log stamped", "versions", c.Size, "authority", s.Authority, "time", s.Time)
	return s, nil
}

// vouchClient returns the client for those who vouch. It reaches only the networks that visits may reach, and follows
// no redirect, since a request is for the address of the settings alone.
func (n *Node) vouchClient() *http.Client {
	client := n.Fetcher.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client
}
