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
// pairs of letters or 2 for single characters; number of characters and their code points as differences, all
// uvarints, ascending; then costs in twelfths of a bit, one byte each. For pairs there are (n+1)×(n+1) costs, row by
// row, of the second character after the first, index 0 being anything that is no letter of the language.
// internal/train makes the file.
//
//go:embed models.bin
var modelFile []byte

// model says how likely letters are to follow one another in a language, or how likely characters are.
type model struct {
	lang  string
	index map[rune]int16 // 1-based
	n     int            // letters + 1
	cost  []byte
}

// scale is how many units of cost make a bit.
const scale = 12

// loadModels reads the embedded models once; they never change.
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

// pair is the cost of letter b after letter a, by index.
func (m *model) pair(a, b int16) int { return int(m.cost[int(a)*m.n+int(b)]) }
