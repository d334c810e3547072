package joins

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"odarchive/triplestore/kv"
)

// A column shares a hash or two with hundreds of sets by chance. Whether it is chance, the heads of the sets say, and a
// pass meets more sets than it can read one by one: so the heads of 1,024 sets are one record. A head is there as long
// as its set, and never changes.
const (
	headsInBlock = 1024
	headSize     = 5 // bytes
	headPart     = 8 // lowest bits of reach that a head leaves out
)

// head is what a set's postings have of it.
type head struct {
	filed int    // hashes that the set is filed under
	reach uint32 // the hash up to which these are complete, or a few above it
}

// heads are blocks of heads by number. A block is nil if the database does not have it.
type heads map[uint32][]byte

func (n number) block() (block uint32, at int) {
	return uint32(n>>3) / headsInBlock, int(n>>3) % headsInBlock * headSize
}

// head returns the head of a set. Without a record of it, the set itself says what it would be.
func (u *Update) head(n number) (head, error) {
	block, at := n.block()
	b, err := u.headsOf(block)
	if err != nil {
		return head{}, err
	}
	if at < len(b) {
		if h := headAt(b[at:]); h.filed > 0 {
			return h, nil
		}
	}
	s, err := u.set(n)
	if err != nil {
		return head{}, err
	}
	return head{s.filed, s.reach}, nil
}

func headAt(b []byte) head {
	return head{int(binary.LittleEndian.Uint16(b)), binary.LittleEndian.Uint32(b[1:])>>8<<headPart | 1<<headPart - 1}
}

func (u *Update) headsOf(block uint32) ([]byte, error) {
	if b, known := u.heads[block]; known {
		return b, nil
	}
	b, err := u.tables.heads(block)
	if err == nil {
		u.heads[block] = b
	}
	return b, err
}

// setHead notes the head of a new set.
func (u *Update) setHead(n number, s *set) error {
	block, _ := n.block()
	b, err := u.headsOf(block)
	if err != nil {
		return err
	}
	u.heads[block], u.headed[block] = withHead(b, n, s), true
	return nil
}

// dropHead clears the head of a set that is dropped.
func (u *Update) dropHead(n number) error {
	block, at := n.block()
	b, err := u.headsOf(block)
	if err != nil || at >= len(b) {
		return err
	}
	clear(b[at : at+headSize])
	end := len(b)
	for end > 0 && b[end-1] == 0 {
		end--
	}
	u.heads[block], u.headed[block] = b[:(end+headSize-1)/headSize*headSize], true
	return nil
}

// withHead returns a block with the head of a set. It may change b.
func withHead(b []byte, n number, s *set) []byte {
	_, at := n.block()
	if more := at + headSize - len(b); more > 0 {
		b = append(b, make([]byte, more)...)
	}
	reach := s.reach >> headPart
	binary.LittleEndian.PutUint16(b[at:], uint16(min(s.filed, math.MaxUint16)))
	b[at+2], b[at+3], b[at+4] = byte(reach), byte(reach>>8), byte(reach>>16)
	return b
}

func (t tables) heads(block uint32) (b []byte, err error) {
	_, err = t.txn.Read(kv.SpaceJoins, nkey(tableHeads, block), func(v []byte) error {
		if b = slices.Clone(v); len(v)%headSize != 0 || len(v) > headsInBlock*headSize {
			return fmt.Errorf("%w: heads %d", errDamaged, block)
		}
		return nil
	})
	return b, err
}

func (t tables) setHeads(block uint32, b []byte) error {
	if len(b) == 0 {
		return t.txn.Delete(kv.SpaceJoins, nkey(tableHeads, block))
	}
	return t.txn.Set(kv.SpaceJoins, nkey(tableHeads, block), b)
}
