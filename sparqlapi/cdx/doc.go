// Package cdx serves the capture index at /cdx: which versions of which URLs there are, in the order of their SURT keys
// and times, with the parameters that users of the CDX servers of pywb and of the Wayback Machine know.
//
// Every version is a capture; visits that found nothing new are none. Lines are CDXJ, space-separated fields, JSON objects,
// or the Wayback Machine's JSON table. Answers are streamed and hold at most MaxLines; showResumeKey and resumeKey go on
// behind them, which costs the same at any place of a long walk. Pages (page, pageSize, showNumPages) are counted from the
// beginning, so the late ones of a long walk cost more. What knows the versions is given to the package as an Archive.
package cdx
