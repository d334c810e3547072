// Package hydra defines the terms of Hydra that the archive reads or writes, as absolute IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package hydra

// NS is the namespace of the terms.
const NS = "http://www.w3.org/ns/hydra/core#"

const (
	Collection            = NS + "Collection"
	PartialCollectionView = NS + "PartialCollectionView"
	PagedCollection       = NS + "PagedCollection"
	Member                = NS + "member"
	TotalItems            = NS + "totalItems"
	View                  = NS + "view"
	First                 = NS + "first"
	Next                  = NS + "next"
	NextPage              = NS + "nextPage"
	ItemsPerPage          = NS + "itemsPerPage"
)
