package dict

import (
	"fmt"
	"testing"

	"odarchive/triplestore/term"
)

func TestWhatIsAskedForStaysAndTheRestMakesRoom(t *testing.T) {
	t.Parallel()
	h := newHot(hotTerms)
	often := term.IRI("http://e/often")
	h.put(often, term.Make(term.TagIRI, 1))
	for i := range 5 * hotTerms {
		h.put(term.IRI(fmt.Sprint("http://e/", i)), term.Make(term.TagIRI, uint64(i+2)))
		if id, ok := h.get(often); !ok || id.Payload() != 1 {
			t.Fatalf("after %d others it is %v, %v", i, id, ok)
		}
	}
	if n := len(h.young) + len(h.old); n > 2*hotTerms {
		t.Errorf("%d terms are remembered", n)
	}
	if _, ok := h.get(term.IRI("http://e/0")); ok {
		t.Error("what nobody asks for is still there")
	}
	h.clear()
	if _, ok := h.get(often); ok {
		t.Error("it is there after it was cleared")
	}
}
