package charset

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/binary"
	"io"
	"sync"
)

// models.bin is a gzip stream of models, one after another: length of the language code and the code; a byte, 1 for
// pairs of letters or 2 for single characters; number of characters and the differences of their ascending code points,
// all uvarints; then costs in twelfths of a bit, one byte each. For pairs there are (n+1)×(n+1) costs, row by row, of
// the second character after the first. Index 0 is anything that is not a letter of the language. internal/train
// creates the file.
//
//go:embed models.bin
var modelFile []byte

// model holds the costs of letters following one another in a language, or of single characters.
type model struct {
	lang  string
	index map[rune]int16 // 1-based
	n     int            // letters + 1
	cost  []byte
}

// scale is the number of units of cost per bit.
const scale = 12

// loadModels returns the embedded models by language.
var loadModels = sync.OnceValue(func() map[string]*model {
	models := map[string]*model{}
	z, err := gzip.NewReader(bytes.NewReader(modelFile))
	if err != nil {
		return models
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return models
	}
	for len(data) > 0 {
		l := int(data[0])
		m := &model{lang: string(data[1 : 1+l]), index: map[rune]int16{}}
		pairs := data[1+l] == 1
		data = data[2+l:]
		n, w := binary.Uvarint(data)
		data = data[w:]
		r := rune(0)
		for i := range int(n) {
			d, w := binary.Uvarint(data)
			data = data[w:]
			r += rune(d)
			m.index[r] = int16(i + 1)
		}
		m.n = int(n) + 1
		size := int(n)
		if pairs {
			size = m.n * m.n
		}
		m.cost, data = data[:size], data[size:]
		models[m.lang] = m
	}
	return models
})

// pair returns the cost of letter b after letter a, by index.
func (m *model) pair(a, b int16) int { return int(m.cost[int(a)*m.n+int(b)]) }
