package tables

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/geo"
)

// Limits of the search for records.
const (
	xmlLook    = 20_000 // elements examined to find the records
	xmlDepth   = 64     // maximum nesting
	xmlColumns = 500
)

// xmlRecords profiles a list of records: the elements that most often occur side by side and contain values. It finds
// them in a first pass over the beginning and reads them in a second.
func xmlRecords(ctx context.Context, in Input, o Options) ([]*csvprofile.Profile, error) {
	path, err := recordPath(in)
	if err != nil || path == "" {
		return nil, err
	}
	dec := newXML(in)
	records := csvprofile.NewRecords()
	records.Sample, records.Each, records.Begin = o.Sample, o.RowsOf(0), o.BeginOf(0)
	var at []string
	truncated, why := false, ""
	for {
		tok, err := dec.RawToken()
		if errors.Is(err, io.EOF) {
			if len(at) > 0 {
				truncated, why = true, fmt.Sprintf("it ends within <%s>", at[len(at)-1])
			}
			break
		}
		if err != nil {
			if records.Rows() == 0 {
				return nil, fmt.Errorf("%w: %v", ErrFormat, err)
			}
			truncated, why = true, err.Error()
			break
		}
		switch t := tok.(type) {
		case xml.StartElement:
			at = append(at, name(t.Name))
			if len(at) > xmlDepth {
				return nil, fmt.Errorf("%w: nested too deeply", ErrFormat)
			}
			if strings.Join(at, "/") != path {
				continue
			}
			keys, values, err := record(dec, t)
			at = at[:len(at)-1]
			if len(keys) > 0 {
				records.Add(keys, values)
			}
			if err := records.Err(); err != nil {
				return nil, err
			}
			if err != nil {
				truncated, why = true, err.Error()
			}
		case xml.EndElement:
			if len(at) > 0 {
				at = at[:len(at)-1]
			}
		}
		if records.Rows()&255 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if truncated || records.Rows() >= o.MaxRows {
			truncated = true
			break
		}
	}
	if records.Rows() < 2 {
		return nil, nil
	}
	p := records.Profile(path)
	p.Truncated = truncated
	if why != "" {
		p.Why = append(p.Why, fmt.Sprintf("reading stopped after %d rows: %s", p.Rows, why))
	}
	return []*csvprofile.Profile{p}, nil
}

// gml profiles the features of a GML document, or its records if it has no features.
func gml(ctx context.Context, in Input, o Options) ([]*csvprofile.Profile, error) {
	found, err := geo.GML(ctx, in, o)
	if len(found) > 0 || err != nil {
		return found, err
	}
	return xmlRecords(ctx, in, o)
}

func newXML(in Input) *xml.Decoder {
	dec := xml.NewDecoder(in.Text())
	dec.Strict = false
	dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // the text is UTF-8 already
	return dec
}

func name(n xml.Name) string {
	if n.Space != "" {
		return n.Space + ":" + n.Local
	}
	return n.Local
}

// recordPath returns the path, from the root, of the elements that are records, "" if there are none.
func recordPath(in Input) (string, error) {
	type stat struct {
		count, children int // occurrences, and elements and attributes in all of them
		depth           int
	}
	stats := map[string]*stat{}
	dec := newXML(in)
	var at []string
	for seen := 0; seen < xmlLook; {
		tok, err := dec.RawToken()
		if err != nil {
			if !errors.Is(err, io.EOF) && len(stats) == 0 {
				return "", fmt.Errorf("%w: %v", ErrFormat, err)
			}
			break
		}
		switch t := tok.(type) {
		case xml.StartElement:
			seen++
			if len(at) > 0 {
				if s := stats[strings.Join(at, "/")]; s != nil {
					s.children++
				}
			}
			at = append(at, name(t.Name))
			if len(at) > xmlDepth {
				return "", fmt.Errorf("%w: nested too deeply", ErrFormat)
			}
			key := strings.Join(at, "/")
			s := stats[key]
			if s == nil {
				if len(stats) > 5000 {
					break
				}
				s = &stat{depth: len(at)}
				stats[key] = s
			}
			s.count++
			s.children += len(t.Attr)
		case xml.EndElement:
			if len(at) > 0 {
				at = at[:len(at)-1]
			}
		}
	}
	best, bestScore := "", 0.0
	for _, p := range slices.Sorted(maps.Keys(stats)) {
		s := stats[p]
		if s.count < 2 || s.children < s.count*2 || s.depth < 2 {
			continue
		}
		// The outermost element that repeats is the record. What repeats inside it is a part.
		score := float64(s.count*min(s.children/s.count, 50)) / float64(s.depth*s.depth)
		if score > bestScore {
			best, bestScore = p, score
		}
	}
	return best, nil
}

// record reads an element as one row: attributes as "@name", inner elements by path, repeated ones joined.
func record(dec *xml.Decoder, start xml.StartElement) (keys, values []string, err error) {
	index := map[string]int{}
	put := func(k, v string) {
		v = strings.TrimSpace(v)
		i, ok := index[k]
		switch {
		case !ok && len(keys) < xmlColumns:
			index[k] = len(keys)
			keys, values = append(keys, k), append(values, v)
		case !ok || v == "":
		case values[i] == "":
			values[i] = v
		case len(values[i]) < 1<<16:
			values[i] += "; " + v
		}
	}
	for _, a := range start.Attr {
		if a.Name.Space != "xmlns" && a.Name.Local != "xmlns" {
			put("@"+name(a.Name), a.Value)
		}
	}
	var at []string
	var text strings.Builder
	leaf := true
	for {
		tok, err := dec.RawToken()
		if err != nil {
			return keys, values, err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			at = append(at, name(t.Name))
			if len(at) > xmlDepth {
				return keys, values, ErrFormat
			}
			text.Reset()
			leaf = true
			for _, a := range t.Attr {
				if a.Name.Space != "xmlns" && a.Name.Local != "xmlns" {
					put(strings.Join(at, "/")+"@"+name(a.Name), a.Value)
				}
			}
		case xml.CharData:
			if text.Len() < 1<<16 {
				text.Write(t)
			}
		case xml.EndElement:
			if len(at) == 0 {
				if len(keys) == 0 {
					put("value", text.String())
				}
				return keys, values, nil
			}
			if leaf {
				put(strings.Join(at, "/"), text.String())
			}
			leaf = false
			text.Reset()
			at = at[:len(at)-1]
		}
	}
}
