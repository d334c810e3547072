// Package discover finds the data files of a web site that no portal lists, with as few requests as it can.
//
// What the site declares comes first: portals, sitemaps, feeds, DCAT catalogs and schema.org in pages. Then pages are
// asked for in the order of what they promise. Two experts share one queue of links: one scores them by keywords, the
// other learns from each answer what links of their kind lead to. Each gets requests according to its recent yield.
//
// robots.txt applies to every request, unlike to those of other harvesters: nobody has named these addresses. A link
// whose address shows a data file is not requested; the archive visits it like any other resource.
package discover
