// Package discover finds the data files of a web site that no portal lists, with as few requests as it can.
//
// What the site declares comes first: portals, sitemaps, feeds, DCAT catalogs and schema.org in pages. Then pages are
// asked for in the order of what they promise. Experts share one queue of links: one learns from each answer what links
// of their kind lead to, one scores them by keywords, and chance visits branches of which little was seen. Each gets
// requests according to its recent yield. What a page is worth is what it brings, or what it leads to: the most files
// per request.
//
// robots.txt applies to every request, unlike to those of other harvesters: nobody has named these addresses. A link
// whose address shows a data file is not requested; the archive visits it like any other resource.
package discover
