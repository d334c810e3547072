package csvprofile

import (
	"encoding/json"
	"fmt"
)

// Line returns the profile of one file as `odarchive profile --json` prints it, without the line end.
func (p *Profile) Line(file string) ([]byte, error) {
	b, err := json.Marshal(struct {
		File       string       `json:"file"`
		Table      string       `json:"table,omitempty"`
		Delimiter  string       `json:"delimiter"`
		QuoteChar  string       `json:"quotechar"`
		EscapeChar string       `json:"escapechar"`
		Encoding   string       `json:"encoding"`
		Header     bool         `json:"header"`
		HeaderRows int          `json:"headerrows"`
		Preamble   int          `json:"preamble"`
		Footer     int          `json:"footer"`
		Terminator string       `json:"lineterminator"`
		Rows       int64        `json:"rows"`
		Columns    []Column     `json:"columns"`
		Ragged     int64        `json:"ragged,omitempty"`
		Blank      int64        `json:"blank,omitempty"`
		Truncated  bool         `json:"truncated,omitempty"`
		Kind       string       `json:"kind,omitempty"`
		Subject    int          `json:"subject,omitempty"`
		Totals     []int64      `json:"totals,omitempty"`
		TotalRows  int64        `json:"totalrows,omitempty"`
		Sections   []int64      `json:"sections,omitempty"`
		SectRows   int64        `json:"sectionrows,omitempty"`
		Primary    []int        `json:"primarykey,omitempty"`
		Foreign    []ForeignKey `json:"foreignkeys,omitempty"`
		Notes      []string     `json:"notes,omitempty"`
		Why        []string     `json:"why,omitempty"`
	}{file, p.Name, p.Dialect.Delimiter, p.Dialect.QuoteChar, p.Dialect.EscapeChar, p.Dialect.Encoding, p.Dialect.Header,
		p.Dialect.HeaderRows,
		p.Dialect.Preamble, p.Dialect.Footer, p.Dialect.LineTerminator, p.Rows, p.Columns, p.Ragged, p.Blank, p.Truncated,
		p.Kind, p.Subject, p.Totals, p.TotalRows, p.Sections, p.SectionRows, p.PrimaryKey, p.ForeignKeys, p.Notes, p.Why})
	if err != nil {
		return nil, fmt.Errorf("csvprofile: %s: %w", file, err)
	}
	return b, nil
}
