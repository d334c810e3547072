package expr

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"

	"odarchive/triplestore/term"
)

// hashFunctions are those of §17.4.6: of the UTF-8 bytes of a plain string, in lower-case hex.
func hashFunctions(name string) (function, bool) {
	sum := func(f func([]byte) []byte) (function, bool) {
		return fn1(func(v Value) Value {
			if v.kind != Str {
				return errValue
			}
			return NewString(hex.EncodeToString(f([]byte(v.s))))
		}), true
	}
	switch name {
	case "MD5":
		return sum(func(b []byte) []byte { h := md5.Sum(b); return h[:] })
	case "SHA1":
		return sum(func(b []byte) []byte { h := sha1.Sum(b); return h[:] })
	case "SHA256":
		return sum(func(b []byte) []byte { h := sha256.Sum256(b); return h[:] })
	case "SHA384":
		return sum(func(b []byte) []byte { h := sha512.Sum384(b); return h[:] })
	case "SHA512":
		return sum(func(b []byte) []byte { h := sha512.Sum512(b); return h[:] })
	}
	return function{}, false
}

// tripleFunctions are those of SPARQL 1.2 §17.4.7.
func tripleFunctions(name string) (function, bool) {
	part := func(i int) (function, bool) {
		return fn1(func(v Value) Value {
			if v.kind != Triple {
				return errValue
			}
			s, p, o, ok := term.Key(v.s).Parts()
			if !ok {
				return errValue
			}
			return FromKey([3]term.Key{s, p, o}[i])
		}), true
	}
	switch name {
	case "TRIPLE":
		return fnN(3, 3, func(a []Value) Value {
			if a[0].kind != IRI && a[0].kind != Blank || a[1].kind != IRI || a[2].kind == Err {
				return errValue
			}
			return FromKey(term.Triple(a[0].Key(), a[1].Key(), a[2].Key()))
		}), true
	case "SUBJECT":
		return part(0)
	case "PREDICATE":
		return part(1)
	case "OBJECT":
		return part(2)
	case "ISTRIPLE":
		return is(func(v Value) bool { return v.kind == Triple }), true
	}
	return function{}, false
}
