package vocab

// HydraNS is the namespace of the terms.
const HydraNS = "http://www.w3.org/ns/hydra/core#"

const (
	HydraCollection            = HydraNS + "Collection"
	HydraPartialCollectionView = HydraNS + "PartialCollectionView"
	HydraPagedCollection       = HydraNS + "PagedCollection"
	HydraMember                = HydraNS + "member"
	HydraTotalItems            = HydraNS + "totalItems"
	HydraView                  = HydraNS + "view"
	HydraFirst                 = HydraNS + "first"
	HydraNext                  = HydraNS + "next"
	HydraNextPage              = HydraNS + "nextPage"
	HydraItemsPerPage          = HydraNS + "itemsPerPage"
)
