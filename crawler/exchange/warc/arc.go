package warc

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// arcVersion is the Version of records of ARC files.
const arcVersion = "ARC/1"

// readARC parses the line that starts a record in an ARC file: URL, IP address, date (14 digits), media type and
// length, separated by spaces. In version 2 of ARC, five more fields precede the length. The first record of a file,
// whose URL is filedesc://NAME, becomes a warcinfo record; a capture over HTTP becomes a response, any other a
// resource. ARC records have neither ids nor digests.
func (r *Reader) readARC(line string) (*Record, error) {
	f := strings.Split(line, " ")
	if len(f) < 5 {
		return nil, fmt.Errorf("a record starts with %.40q", line)
	}
	n, err := strconv.ParseUint(f[len(f)-1], 10, 63)
	if err != nil {
		return nil, fmt.Errorf("a record starts with %.40q", line)
	}
	at := len(f) - 4 // index of the IP address in version 1; counted from the end, since the URL may have spaces
	if len(f) >= 10 && !isARCDate(f[at+1]) && isARCDate(f[len(f)-8]) {
		at = len(f) - 9
	}
	url := strings.Join(f[:at], " ")
	scheme, _, ok := strings.Cut(url, ":")
	if !ok || scheme == "" || strings.ContainsAny(scheme, "/ <\"") {
		return nil, fmt.Errorf("a record starts with %.40q", line)
	}
	rec := &Record{Version: arcVersion, ContentLength: int64(n), Type: Resource}
	mime := f[at+2]
	switch {
	case scheme == "filedesc":
		rec.Type = Warcinfo
	case scheme == "http" || scheme == "https":
		rec.Type, mime = Response, HTTPResponse
	}
	rec.Header.Add("WARC-Type", rec.Type)
	if rec.Type == Warcinfo {
		rec.Header.Add("WARC-Filename", strings.TrimPrefix(url, "filedesc://"))
	} else {
		rec.Header.Add("WARC-Target-URI", url)
	}
	if t, err := time.Parse("20060102150405", f[at+1]); err == nil {
		rec.Header.Add("WARC-Date", t.Format("2006-01-02T15:04:05Z"))
	} else if rec.Type != Warcinfo {
		return nil, errors.New("the date of the ARC record is " + strconv.Quote(f[at+1]))
	}
	if ip := f[at]; ip != "0.0.0.0" && ip != "-" {
		rec.Header.Add("WARC-IP-Address", ip)
	}
	rec.Header.Add("Content-Type", mime)
	rec.Header.Add("Content-Length", strconv.FormatUint(n, 10))
	rec.Head = r.head
	return rec, nil
}

func isARCDate(s string) bool {
	_, err := strconv.ParseUint(s, 10, 63)
	return err == nil && (len(s) == 14 || len(s) == 12)
}
