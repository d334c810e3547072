// Package hydra names the terms of Hydra that the archive reads or writes, as absolute IRIs.
//
// It is a list of constants and does nothing. A class and a property that differ only in the case of their
// first letter are told apart by the suffix Prop on the property.
package hydra

// NS is the namespace; every other constant is a term in it.
const NS = "http://www.w3.org/ns/hydra/core#"

const (
	Collection            = NS + "Collection"
	PartialCollectionView = NS + "PartialCollectionView"
	PagedCollection       = NS + "PagedCollection"
	Member                = NS + "member"
	TotalItems            = NS + "totalItems"
	View                  = NS + "view"
	First                 = NS + "first"
	Last                  = NS + "last"
	Next                  = NS + "next"
	Previous              = NS + "previous"
	NextPage              = NS + "nextPage"
	ItemsPerPage          = NS + "itemsPerPage"
)
