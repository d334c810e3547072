package warc

import (
	"bytes"
	"testing"
)

func TestThePayloadDigestIsTheSameWithAndWithoutThatOfTheBlock(t *testing.T) {
	for name, message := range map[string]string{
		"plain":              "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\na;b\n",
		"chunked":            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\na;b\n\r\n0\r\n\r\n",
		"with a broken end":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\na;b\n\r\n",
		"a head alone":       "HTTP/1.1 304 Not Modified\r\n\r\n",
		"a head without end": "HTTP/1.1 200 OK\r\nContent-",
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDigester(true)
			d.Write([]byte(message))
			_, want := d.Digests()
			got, err := PayloadDigest(bytes.NewReader([]byte(message)))
			if err != nil || got != want {
				t.Errorf("PayloadDigest: %s, %v; want %s", got, err, want)
			}
		})
	}
}
