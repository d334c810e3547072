package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/triplestore/kv"
)

// Question asks whether datasets that a portal has suddenly ceased to list are withdrawn. Until it is answered, they
// are listed as before.
type Question struct {
	Portal  string    `json:"portal"`
	Source  string    `json:"source"`  // whose harvest asks
	Harvest string    `json:"harvest"` // ID of the latest harvest that asked
	Asked   time.Time `json:"asked"`   // when the first harvest asked
	Last    time.Time `json:"last"`    // when the latest one did
	Waiting int       `json:"waiting"` // datasets whose withdrawal waits for an answer; 0: nothing is asked
	Listed  int       `json:"listed"`  // datasets that the portal listed before
	// datasets that stay listed by an answer, until a harvest finds them or Withdraw is answered
	Refused  int      `json:"refused,omitempty"`
	Examples []string `json:"examples,omitempty"` // the first of those that wait
}

// Answer is an answer to a Question.
type Answer string

// The answers. They are part of the format.
const (
	Withdraw Answer = "withdraw" // the datasets are withdrawn, also those that were refused before
	Keep     Answer = "keep"     // the datasets stay listed, and later harvests do not ask about them again
)

// ErrNoQuestion is wrapped by the error of Answer if nothing is asked about a portal.
var ErrNoQuestion = errors.New("nothing is asked")

const maxExamples = 10 // datasets of a question that are named

// asked is the state of an entry that is listed though a harvest did not find it. The values are part of the format.
type asked string

const (
	waiting asked = "w" // for an answer
	refused asked = "r" // the answer was Keep
)

// question is what the record of a portal has of its question.
type question struct {
	Hold     bool      `json:",omitempty"` // the commit marks entries instead of withdrawing them
	Sure     bool      `json:",omitempty"` // the commit withdraws without asking
	Taken    bool      `json:",omitempty"` // the harvest is of another kind than the last one, which was asked for
	Held     int64     `json:",omitempty"` // campaign of the last commit that asked
	Answer   Answer    `json:",omitempty"` // the commit carries out this answer
	Answered time.Time `json:",omitzero"`
	Question *Question `json:",omitempty"`
}

// sudden reports whether a portal loses more than a third of its datasets, and more than one.
func sudden(lost, listed int) bool { return lost > 1 && 3*lost > listed }

// asksAbout reports whether a commit asks before it withdraws. One that replaces the harvest of another kind of source
// does not, since that was asked for (Open). If it is repeated, it asks again, whatever else it has added
// to the portal.
func (p portal) asksAbout(todo *plan) bool {
	return !p.Taken && sudden(todo.changes.Withdrawn, todo.listed) || !p.Taken && p.Held == p.Campaign && todo.changes.Withdrawn > 0
}

// ask begins a question, or asks the one that is open again.
func (p *portal) ask(todo *plan) {
	q := Question{Asked: p.At}
	if p.Question != nil {
		q.Refused = p.Question.Refused
		if p.Question.Waiting > 0 {
			q.Asked = p.Question.Asked
		}
	}
	q.Portal, q.Source, q.Harvest, q.Last = p.IRI, p.Source, p.Harvest, p.At
	q.Waiting, q.Listed, q.Examples = todo.changes.Withdrawn, todo.listed, todo.lost
	if p.Held == p.Campaign && p.Question != nil {
		q.Listed = p.Question.Listed
	}
	p.Question, p.Held = &q, p.Campaign
}

// marks reports whether a commit marks an entry that is current, instead of withdrawing it. gone is that of lost.
func (p portal) marks(current row, gone bool) bool {
	if p.Answer != "" {
		return p.Answer == Keep && current.Asked == waiting
	}
	return p.Hold && current.Asked == "" && p.lost(current, gone)
}

// acting returns the record of a commit. That of an answer has the harvest that asked, and the time of the answer.
func (p portal) acting() portal {
	if p.Answer != "" {
		p.At = p.Answered
		if p.Question != nil {
			p.Harvest = p.Question.Harvest
		}
	}
	return p
}

// end ends a commit or an answer. left counts the datasets that are marked.
func (q *question) end(left map[asked]int) {
	q.Hold, q.Sure, q.Answer, q.Answered = false, false, "", time.Time{}
	if q.Question == nil {
		return
	}
	now := *q.Question
	if now.Waiting, now.Refused = left[waiting], left[refused]; now.Waiting == 0 {
		now.Examples = nil
	}
	if q.Question = &now; now.Waiting+now.Refused == 0 {
		q.Question = nil
	}
}

// askedRows counts the datasets of a portal that are marked.
func (l *Ledger) askedRows(ctx context.Context, p portalID, record portal) (map[asked]int, error) {
	left := map[asked]int{}
	if record.Question == nil {
		return left, nil
	}
	err := l.db.View(func(txn *kv.Txn) error {
		return eachRow(ctx, txn, tableCurrent, p, nil, func(_ entryID, r row) (bool, error) {
			if !r.Gone && r.dataset() != "" {
				left[r.Asked]++
			}
			return true, nil
		})
	})
	return left, err
}

// Questions returns what is asked about portals, and the portals that list datasets because an answer was Keep.
func (l *Ledger) Questions(ctx context.Context) ([]Question, error) {
	all := []Question{} // [] in JSON
	err := l.db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceHarvest, []byte{tablePortal}, nil, func(k, _ []byte) (bool, error) {
			record, _, err := getRecord[portal](txn, k)
			if err == nil && record.Question != nil {
				all = append(all, *record.Question)
			}
			return ctx.Err() == nil, errors.Join(err, ctx.Err())
		})
	})
	return all, err
}

// Answer answers the question about a portal, and returns it as it was. What a harvest of the portal has staged
// meanwhile stays staged. An answer that was interrupted is completed by Recover. The error wraps ErrNoQuestion if
// nothing is asked, and no dataset is listed because of an earlier answer.
func (l *Ledger) Answer(ctx context.Context, portalIRI string, a Answer, at time.Time) (Question, error) {
	if a != Withdraw && a != Keep {
		return Question{}, fmt.Errorf("answer %q: expected %s or %s", a, Withdraw, Keep)
	}
	l.committing.Lock()
	defer l.committing.Unlock()
	p := idOf(portalIRI)
	if _, err := l.finish(ctx, p, nil); err != nil { // an interrupted commit
		return Question{}, err
	}
	var asked Question
	err := l.db.Update(ctx, func(txn *kv.Txn) error {
		record, _, err := getRecord[portal](txn, key(tablePortal, p))
		if err != nil {
			return err
		}
		if q := record.Question; q == nil || a == Keep && q.Waiting == 0 {
			return fmt.Errorf("%w about the portal %s", ErrNoQuestion, portalIRI)
		}
		asked = *record.Question
		record.Answer, record.Answered, record.Phase = a, at.UTC(), applying
		return setRecord(txn, key(tablePortal, p), record)
	})
	if err != nil {
		return Question{}, err
	}
	_, err = l.finish(ctx, p, nil)
	return asked, err
}
