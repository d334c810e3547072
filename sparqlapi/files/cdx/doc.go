// Package cdx serves the capture index at /cdx: the versions of URLs in the order of SURT keys and times, with the
// parameters that users of the CDX servers of pywb and of the Wayback Machine know.
//
// Every version is a capture; visits without a new version are not. Formats are CDXJ, space-separated fields, JSON
// objects, and the Wayback Machine's JSON table. Answers are streamed and have at most MaxLines lines. showResumeKey
// and resumeKey continue after them, at the same cost anywhere in the index. Pages (page, pageSize, showNumPages) are
// counted from the beginning, so late pages cost more.
package cdx
