package examine

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/apart"
	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/inspect/diff"
	"odarchive/crawler/inspect/packed"
)

// Side is a version, or a file, to be compared.
type Side struct {
	Type, Charset, Name string
	Inside              packed.Inside // empty if it is not known
	Body                Body
}

// Compare reports what changed between the document, which is own, and another one, whose bytes are Body of it; own is
// the newer one or the older one.
func (d *Document) Compare(ctx context.Context, own, other Side, ownIsNewer bool, o diff.Options, limit time.Duration) (*diff.Report,
	error) {
	own.Body = d.bodies[0]
	if d.child == nil {
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return contained(func() (*diff.Report, error) {
			if ownIsNewer {
				own, other = other, own
			}
			return diff.Compare(limited, own.side(), other.side(), o)
		})
	}
	if o.Memory <= 0 {
		o.Memory = 128 << 20
	}
	d.child.Add(other.Body)
	d.bodies = append(d.bodies, other.Body)
	args := compareArgs{Own: own.named(), Other: other.named(), OtherBody: len(d.bodies) - 1, OwnIsNewer: ownIsNewer, Options: o}
	head, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	var raw []byte
	for _, part := range [][]byte{head, own.inside(), other.inside()} {
		raw = append(binary.AppendUvarint(raw, uint64(len(part))), part...)
	}
	answer, err := d.do(ctx, apart.Task{Op: "diff", Args: raw, Time: limit})
	if err != nil {
		return nil, err
	}
	report, err := diff.ReadWire(answer)
	if err != nil {
		return nil, nonsense(err)
	}
	return report, nil
}

// side returns what package diff compares.
func (s Side) side() diff.Side {
	file := inspect.Input{Found: detect.Detection{Type: s.Type, Charset: s.Charset}, Name: s.Name, Size: s.Body.Size, Body: s.Body.R}
	return diff.SideOf(file, s.Inside.Inside)
}

func (s Side) named() sideArgs { return sideArgs{s.Type, s.Charset, s.Name} }

func (s Side) inside() []byte {
	if len(s.Inside.Record) == 0 {
		return nil
	}
	return s.Inside.AppendTo(nil)
}

// compareArgs are the arguments of a comparison; what is inside the two follows them.
type compareArgs struct {
	Own, Other sideArgs
	OtherBody  int
	OwnIsNewer bool
	Options    diff.Options
}

type sideArgs struct{ Type, Charset, Name string }

func opDiff(j *apart.Job) ([]byte, error) {
	var parts [3][]byte
	r := bytes.NewReader(j.Args)
	for i := range parts {
		n, err := binary.ReadUvarint(r)
		if err != nil || n > uint64(r.Len()) {
			return nil, fmt.Errorf("the arguments of a comparison: %w", io.ErrUnexpectedEOF)
		}
		parts[i] = make([]byte, n)
		_, _ = r.Read(parts[i]) // has as many
	}
	var args compareArgs
	if err := json.Unmarshal(parts[0], &args); err != nil {
		return nil, err
	}
	side := func(of sideArgs, body *apart.Bytes, raw []byte) (diff.Side, error) {
		s := Side{Type: of.Type, Charset: of.Charset, Name: of.Name, Body: Body{Size: body.Size(), R: body}}
		var err error
		s.Inside, err = readProfile(raw)
		return s.side(), err
	}
	from, err := side(args.Own, j.Bodies[0], parts[1])
	if err != nil {
		return nil, err
	}
	to, err := side(args.Other, j.Bodies[args.OtherBody], parts[2])
	if err != nil {
		return nil, err
	}
	if args.OwnIsNewer {
		from, to = to, from
	}
	report, err := diff.Compare(j.Context, from, to, args.Options)
	if err != nil {
		return nil, err
	}
	return report.Wire()
}
