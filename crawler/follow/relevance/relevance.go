// Package relevance says how much a page, a site or a link has to do with data, and with what a campaign looks for.
//
// The score of a text is a weighted sum, as in ARCOMEM's online analysis: of words that stand for data in 24 languages
// (words.txt), of the keywords of a campaign, and of entities, which are places and organisations by name. A word
// counts by where it stands: most in a title, least in running text. Options has the weights and the keywords. A Scorer
// is made once, never changes, and may be used by several goroutines.
//
// Everything is compared without case and accents. The texts are a stranger's, and only their beginning is looked at.
package relevance

// Options is what a scorer looks for, as a campaign's document writes it. The zero value looks for data of any kind.
type Options struct {
	Keywords []string `toml:"keywords" json:"keywords,omitempty"` // words and phrases, at most MaxKeywords
	Entities []string `toml:"entities" json:"entities,omitempty"` // names of places and organisations, likewise
	Weights  Weights  `toml:"weights" json:"weights,omitzero"`
}

// Weights are what a match counts. Zero stands for the default; a negative weight of Data, Keyword or Entity makes a
// match count against a text.
type Weights struct {
	Data    float64 `toml:"data" json:"data,omitempty"`       // a word that stands for data; default 1
	Keyword float64 `toml:"keyword" json:"keyword,omitempty"` // a keyword; default 2
	Entity  float64 `toml:"entity" json:"entity,omitempty"`   // an entity; default 1
	Format  float64 `toml:"format" json:"format,omitempty"`   // the name of a format of data, such as CSV; default 1
	Noise   float64 `toml:"noise" json:"noise,omitempty"`     // a word that is typical of pages and files without data; default -1
	Place   float64 `toml:"place" json:"place,omitempty"`     // the name of any country or larger city; default 0

	Title   float64 `toml:"title" json:"title,omitempty"`     // factor of a match in a title; default 1
	Heading float64 `toml:"heading" json:"heading,omitempty"` // in a heading; default 0.7
	Anchor  float64 `toml:"anchor" json:"anchor,omitempty"`   // in the text of a link; default 1
	Address float64 `toml:"address" json:"address,omitempty"` // in an address; default 0.5
	Text    float64 `toml:"text" json:"text,omitempty"`       // in running text; default 0.2

	Page     float64 `toml:"page" json:"page,omitempty"`         // what a link has of the score of its page; default 0.3
	Site     float64 `toml:"site" json:"site,omitempty"`         // of the score of its site; default 0.2
	Software float64 `toml:"software" json:"software,omitempty"` // of what the rules for the site's software say; default 1
}

// Page is what is scored of a page.
type Page struct {
	URL      string
	Title    string
	Headings []string
	Text     string // running text
}

// Part is what one match contributes to a score.
type Part struct {
	What  string  `json:"what"`  // the word, keyword or entity, as it is listed
	Kind  string  `json:"kind"`  // data, keyword, entity, format, noise or place
	Where string  `json:"where"` // title, heading, anchor, address or text
	Value float64 `json:"value"`
}

// Score is how much a text has to do with what is looked for.
type Score struct {
	Value float64 `json:"value"`
	Parts []Part  `json:"parts,omitempty"` // the largest first, at most maxParts
}
