package examine

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"time"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/apart"
	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/inspect/packed"
)

// Limits of the time that detecting the type of one file, and profiling it, may take.
const (
	detectTime  = time.Minute
	profileTime = 2 * time.Minute
	aMoment     = 10 * time.Second // for detection that a profile follows
)

// File is what is known of a document beside its bytes.
type File struct {
	Name     string // file name
	Declared string // detect.Input.Declared
	Base     string // its URL, the base of relative IRIs; "" if none
	Found    detect.Detection

	Time     time.Duration // of profiling; 0 for the default
	MaxProbe int64         // inspect.Limits.MaxProbe
	Alone    bool          // Detect is not followed by Profile
}

func (f File) time() time.Duration {
	if f.Time > 0 {
		return f.Time
	}
	return profileTime
}

// profiled is what a child has found before it was asked for: detection and profile are one journey.
type profiled struct {
	file   File
	inside packed.Inside
	err    error
}

// Detect detects what kind of file the document is.
func (d *Document) Detect(ctx context.Context, f File) (detect.Detection, error) {
	if d.child == nil {
		limited, cancel := context.WithTimeout(ctx, detectTime)
		defer cancel()
		return contained(func() (detect.Detection, error) { return detected(limited, f, d.bodies[0].Size, d.bodies[0].R) })
	}
	if f.Alone {
		return d.detectAlone(ctx, f)
	}
	answer, err := d.ask(ctx, "examine", f, f.time()+aMoment)
	if err != nil {
		if errors.Is(err, apart.ErrOurs) || ctx.Err() != nil {
			return detect.Detection{}, err
		}
		found, again := d.detectAlone(ctx, f) // what kind of file it is may be known in spite of that
		if again != nil {
			return detect.Detection{}, again
		}
		f.Found = found
		d.passed = &profiled{file: f, err: err}
		return found, nil
	}
	n, used := binary.Uvarint(answer)
	if used <= 0 || n > uint64(len(answer)-used) {
		return detect.Detection{}, nonsense(io.ErrUnexpectedEOF)
	}
	found, err := readFound(answer[used : used+int(n)])
	if err != nil {
		return detect.Detection{}, err
	}
	f.Found = found
	d.passed = &profiled{file: f}
	d.passed.inside, d.passed.err = readProfile(answer[used+int(n):])
	return found, nil
}

func (d *Document) detectAlone(ctx context.Context, f File) (detect.Detection, error) {
	answer, err := d.ask(ctx, "detect", f, detectTime)
	if err != nil {
		return detect.Detection{}, err
	}
	return readFound(answer)
}

// Profile profiles the document, whose kind is f.Found, and packs what is inside it. The result is empty if there is
// nothing to report.
func (d *Document) Profile(ctx context.Context, f File) (packed.Inside, error) {
	if passed := d.passed; passed != nil {
		d.passed = nil
		if passed.file == f {
			return passed.inside, passed.err
		}
	}
	if d.child == nil {
		return contained(func() (packed.Inside, error) { return profile(ctx, f, d.bodies[0].Size, d.bodies[0].R, nil) })
	}
	answer, err := d.ask(ctx, "profile", f, f.time()+aMoment)
	if err != nil {
		return packed.Inside{}, err
	}
	return readProfile(answer)
}

func (d *Document) ask(ctx context.Context, op string, args any, limit time.Duration) ([]byte, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	return d.do(ctx, apart.Task{Op: op, Args: raw, Time: limit})
}

func detected(ctx context.Context, f File, size int64, body io.ReaderAt) (detect.Detection, error) {
	return detect.File(ctx, detect.Input{Name: f.Name, Declared: f.Declared, Size: size, Body: body})
}

func profile(ctx context.Context, f File, size int64, body io.ReaderAt, temp temp) (packed.Inside, error) {
	in, err := inspect.File(ctx, inspect.Input{Found: f.Found, Name: f.Name, Base: f.Base, Size: size, Body: body},
		inspect.Limits{Time: f.time(), MaxProbe: f.MaxProbe, Temp: temp})
	if err != nil {
		return packed.Inside{}, err
	}
	return packed.Pack(in, packed.Sample)
}

// readFound reads a detection from a child.
func readFound(b []byte) (found detect.Detection, err error) {
	if err := json.Unmarshal(b, &found); err != nil {
		return detect.Detection{}, nonsense(err)
	}
	for s, most := range map[*string]int{&found.Type: 200, &found.Charset: 100, &found.Compression: 50, &found.Because: 1000} {
		*s = apart.Clean(*s, most)
	}
	return found, nil
}

// readProfile reads what is inside a document from a child.
func readProfile(b []byte) (packed.Inside, error) {
	if len(b) == 0 {
		return packed.Inside{}, nil
	}
	inside, err := packed.Read(b)
	if err != nil {
		return packed.Inside{}, nonsense(err)
	}
	return inside, nil
}

// The operations of a child.

func opDetect(j *apart.Job) ([]byte, error) {
	f, err := argsOf[File](j)
	if err != nil {
		return nil, err
	}
	found, err := detected(j.Context, f, j.Bodies[0].Size(), j.Bodies[0])
	if err != nil {
		return nil, err
	}
	return json.Marshal(found)
}

func opProfile(j *apart.Job) ([]byte, error) {
	f, err := argsOf[File](j)
	if err != nil {
		return nil, err
	}
	inside, err := profile(j.Context, f, j.Bodies[0].Size(), j.Bodies[0], j.Temp)
	if err != nil || inside.Inside == nil {
		return nil, err
	}
	return inside.AppendTo(nil), nil
}

// opExamine is both in one journey. A failure of the second is found out by asking for it alone.
func opExamine(j *apart.Job) ([]byte, error) {
	f, err := argsOf[File](j)
	if err != nil {
		return nil, err
	}
	if f.Found, err = detected(j.Context, f, j.Bodies[0].Size(), j.Bodies[0]); err != nil {
		return nil, err
	}
	found, err := json.Marshal(f.Found)
	if err != nil {
		return nil, err
	}
	answer := append(binary.AppendUvarint(nil, uint64(len(found))), found...)
	inside, err := profile(j.Context, f, j.Bodies[0].Size(), j.Bodies[0], j.Temp)
	if err != nil || inside.Inside == nil {
		return answer, err
	}
	return inside.AppendTo(answer), nil
}

func argsOf[T any](j *apart.Job) (args T, err error) {
	err = json.Unmarshal(j.Args, &args)
	return args, err
}
