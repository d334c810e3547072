package warc

import (
	"bytes"
	"crypto/sha1"
	"encoding/base32"
	"fmt"
	"strings"
	"testing"
)

// auditRecord returns a record of version 1.1 with the fields that every record has, others, and a block.
func auditRecord(id int, block string, fields ...string) string {
	return fmt.Sprintf(
		"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:%d>\r\nWARC-Date: 2026-01-02T03:04:05Z\r\nContent-Type: "+
			"application/http\r\n%sContent-Length: %d\r\n\r\n%s\r\n\r\n",
		id, strings.Join(append(fields, ""), "\r\n"), len(block), block)
}

func check(t *testing.T, text string) (AuditResult, []string) {
	t.Helper()
	var all []string
	r, err := Check(strings.NewReader(text), func(f Fault) { all = append(all, f.Error()) })
	if err != nil || r.Faults != len(all) {
		t.Fatalf("%+v, %v, %v", r, all, err)
	}
	return r, all
}

func sha1Of(s string) string {
	sum := sha1.Sum([]byte(s))
	return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
}

func TestDigestsAreRightInAnySpellingAndWithOrWithoutChunks(t *testing.T) {
	t.Parallel()
	const head, chunks, plain = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "3\r\nabc\r\n0\r\n\r\n", "abc"
	sum := sha1.Sum([]byte(plain))
	for i, stated := range []string{sha1Of(plain), strings.ToLower(sha1Of(plain)), sha1Of(chunks), fmt.Sprintf("SHA-1:%X", sum),
		fmt.Sprintf("sha1:%x", sum), "blake9:xyz", "sha1"} {
		r, all := check(t, auditRecord(i, head+chunks, "WARC-Payload-Digest: "+stated, "WARC-Block-Digest: "+sha1Of(head+chunks)))
		if len(all) > 0 || r.Records != 1 {
			t.Errorf("%s: %v", stated, all)
		}
	}
	if _, all := check(t, auditRecord(1, head+chunks, "WARC-Payload-Digest: "+sha1Of("abd"))); len(all) != 1 ||
		!strings.Contains(all[0], "offset 0: the payload digest") {
		t.Errorf("a wrong payload digest: %v", all)
	}
	if _, all := check(t, auditRecord(1, head+chunks, "WARC-Block-Digest: "+sha1Of("abd"))); len(all) != 1 ||
		!strings.Contains(all[0], "the block digest") {
		t.Errorf("a wrong block digest: %v", all)
	}
}

func TestMissingFieldsAndRepeatedIdsAreFaults(t *testing.T) {
	t.Parallel()
	sound := auditRecord(1, "HTTP/1.1 200 OK\r\n\r\n")
	for what, text := range map[string]string{
		"no WARC-Type":      strings.Replace(sound, "WARC-Type", "X-Type", 1),
		"no WARC-Record-ID": strings.Replace(sound, "WARC-Record-ID", "X-ID", 1),
		"no WARC-Date":      strings.Replace(sound, "WARC-Date", "X-Date", 1),
		"is not a date":     strings.Replace(sound, "2026-01-02", "2026-02-31", 1),
		"another record":    sound + sound,
		"no records":        "\r\n\r\n",
	} {
		if _, all := check(t, text); len(all) != 1 || !strings.Contains(all[0], what) {
			t.Errorf("%s: %v", what, all)
		}
	}
	for _, text := range []string{"", sound, sound + auditRecord(2, "HTTP/1.1 200 OK\r\n\r\n")} {
		if _, all := check(t, text); len(all) > 0 {
			t.Errorf("%q: %v", text, all)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte(auditRecord(1, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
		"WARC-Payload-Digest: "+sha1Of("abc"))))
	f.Add([]byte(auditRecord(2, "", "WARC-Segment-Number: 1", "WARC-Block-Digest: md5:00")))
	f.Fuzz(func(t *testing.T, b []byte) {
		faults := 0
		r, err := Check(bytes.NewReader(b), func(Fault) { faults++ })
		if err != nil || r.Faults != faults {
			t.Fatalf("%+v, %d faults, %v", r, faults, err)
		}
	})
}
