package content

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"odarchive/testdata/underrace"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/bucket/buckettest"
)

// bucketMode is the environment variable that makes newStore put packs into a bucket: the tests of this package run
// over buckets as they do without.
const bucketMode = "ODARCHIVE_TEST_BUCKET"

// withBucket adds the bucket of the mode to a store's options.
func withBucket(t testing.TB, o Options) Options {
	if o.Remote != nil || o.FS != nil && os.Getenv(bucketMode) != "" {
		return o
	}
	o.remoteBackoff, o.remotePause = time.Millisecond, time.Millisecond
	switch mode := os.Getenv(bucketMode); mode {
	case "":
	case "memory":
		o.Remote = &buckettest.Memory{}
	case "cold": // nothing stays here
		o.Remote, o.RemoteCache = &buckettest.Memory{}, 1
	case "faulty":
		f := buckettest.NewFaulty(&buckettest.Memory{}, 1)
		f.Break(buckettest.Faults{Fail: 0.1, Lose: 0.1, Cut: 0.1, Stall: 0.05, For: 2 * time.Millisecond})
		o.Remote, o.RemoteCache = retried{f}, 300_000
	case "gateway":
		o.Remote, o.RemoteCache = buckettest.StartGateway(t).Open(bucket.Options{}), 300_000
	default:
		t.Fatalf("unknown mode %q", mode)
	}
	return o
}

func TestTheSuiteOverABucketInMemory(t *testing.T) { overBucket(t, "memory") }

func TestTheSuiteOverABucketOfWhichNothingIsCached(t *testing.T) { overBucket(t, "cold") }

func TestTheSuiteOverABucketThatFailsStallsAndCuts(t *testing.T) { overBucket(t, "faulty") }

func TestTheSuiteOverAnObjectStore(t *testing.T) {
	buckettest.StartGateway(t).Kill() // skips if there is none
	overBucket(t, "gateway")
}

// localDamage are the tests that damage closed packs in the folder, and see what becomes of them there. With a bucket,
// they are read from there instead, or are not there at all; the tests of remote_test.go damage objects.
const localDamage = "^Test(AClosedPackIsNamedByItsContent|NothingHasTheBytesOfAPurgedFile|APackOfTheFirstFormatIsReadAndWrittenOnElsewher" +
	"e|APackWhoseNameIsWrongIsFoundAndKept|AMissingClosedPackIsSaidToBeMissing|" +
	"AnOpenPackKeepsItsSoundSegmentsWhateverItsRecordSays|AMissingPackIsDamageAndNotAPanic|AMissingPackIsForgottenOnceNoFileNeedsIt|" +
	"DamagedWasteIsSealedAndWhatIsBesideItIsProtected|ARepairKeepsEverySoundByte|SalvageUsesParityAndNamesWhatIsMissing|" +
	"DamagedParityIsFoundAndMadeAnewAndStillHeals|ParityRefusesAPackThatDiffersFromItsName|ABackupOfADamagedPackIsWhole|" +
	"ScrubFindsAndMendsWhatReadersMeet|DamageBeyondParityNamesTheFilesAndLeavesTheRest|DamageInAClosedPackHealsFromParityWithoutLoss|" +
	"ManyBadSectorsHealAsLongAsNoRowHasThree|ATruncatedPackIsNotReadBehindItsEndForEachOfItsBlocks|PacksAreReadInPartsAndKeptForWhoCopies" +
	"Them|WhatAPowerCutLeavesBehindTheLastCommitIsNoDamage)$"

// overBucket runs the short tests of this package in a process of their own, over a bucket.
func overBucket(t *testing.T, mode string) {
	t.Parallel()
	if os.Getenv(bucketMode) != "" {
		t.Skip("runs the other tests")
	}
	underrace.Skip(t)
	args := []string{"-test.short", "-test.timeout=10m", "-test.skip=Fuzz|^TestTheSuiteOver|" + localDamage}
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), bucketMode+"="+mode)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s=%s %s: %v\n%s", bucketMode, mode, strings.Join(cmd.Args, " "), err, out)
	}
}

// retried is a bucket that tries each request up to ten times, as those of bucket.Open do.
type retried struct{ of bucket.Bucket }

func retry[T any](f func() (T, error)) (v T, err error) {
	for range 10 {
		if v, err = f(); !errors.Is(err, bucket.ErrUnavailable) {
			return v, err
		}
	}
	return v, err
}

func (r retried) Put(ctx context.Context, key string, size int64, body io.ReadSeeker, o bucket.PutOptions) error {
	_, err := retry(func() (bool, error) {
		if _, err := body.Seek(0, io.SeekStart); err != nil {
			return false, err
		}
		return true, r.of.Put(ctx, key, size, body, o)
	})
	return err
}

func (r retried) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, bucket.Info, error) {
	var info bucket.Info
	data, err := retry(func() (data []byte, err error) {
		data, info, err = buckettest.Read(ctx, r.of, key, offset, length)
		return data, err
	})
	return io.NopCloser(bytes.NewReader(data)), info, err
}

func (r retried) Stat(ctx context.Context, key string) (bucket.Info, error) {
	return retry(func() (bucket.Info, error) { return r.of.Stat(ctx, key) })
}

func (r retried) List(ctx context.Context, prefix, after string) iter.Seq2[bucket.Info, error] {
	return func(yield func(bucket.Info, error) bool) {
		all, err := retry(func() (all []bucket.Info, err error) {
			for info, err := range r.of.List(ctx, prefix, after) {
				if err != nil {
					return nil, err
				}
				all = append(all, info)
			}
			return all, nil
		})
		for _, info := range all {
			if !yield(info, nil) {
				return
			}
		}
		if err != nil {
			yield(bucket.Info{}, err)
		}
	}
}

func (r retried) Delete(ctx context.Context, key string) error {
	_, err := retry(func() (bool, error) { return true, r.of.Delete(ctx, key) })
	return err
}
