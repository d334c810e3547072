package expr

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"

	"odarchive/triplestore/term"
)

// hashFunctions are those of §17.4.6. They return the hash of the UTF-8 bytes of a plain string in lower-case hex.
var hashFunctions = map[string]function{
	"MD5":    hash(func(b []byte) []byte { h := md5.Sum(b); return h[:] }),
	"SHA1":   hash(func(b []byte) []byte { h := sha1.Sum(b); return h[:] }),
	"SHA256": hash(func(b []byte) []byte { h := sha256.Sum256(b); return h[:] }),
	"SHA384": hash(func(b []byte) []byte { h := sha512.Sum384(b); return h[:] }),
	"SHA512": hash(func(b []byte) []byte { h := sha512.Sum512(b); return h[:] }),
}

func hash(sum func([]byte) []byte) function {
	return fn1(func(v Value) Value {
		if v.kind != Str {
			return errValue
		}
		return newString(hex.EncodeToString(sum([]byte(v.s))))
	})
}

// tripleFunctions are those of SPARQL 1.2 §17.4.7.
var tripleFunctions = map[string]function{
	"TRIPLE": fnN(3, 3, func(a []Value) Value {
		if a[0].kind != IRI && a[0].kind != Blank || a[1].kind != IRI || a[2].kind == Err {
			return errValue
		}
		return FromKey(term.Triple(a[0].Key(), a[1].Key(), a[2].Key()))
	}),
	"SUBJECT":   part(0),
	"PREDICATE": part(1),
	"OBJECT":    part(2),
	"ISTRIPLE":  is(func(v Value) bool { return v.kind == Triple }),
}

// part returns the function for the i-th term of a triple term.
func part(i int) function {
	return fn1(func(v Value) Value {
		s, p, o, ok := term.Key(v.s).Parts()
		if v.kind != Triple || !ok {
			return errValue
		}
		return FromKey([3]term.Key{s, p, o}[i])
	})
}
