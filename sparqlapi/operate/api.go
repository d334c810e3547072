package operate

import (
	"net/http"
	"strconv"

	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
	"odarchive/triplestore/disk"
)

// AuditAPI holds the handlers about a log. The router checks the right.
type AuditAPI struct {
	Dir string // of the log
}

// Last answers GET /audit?limit=&before=: the latest requests, newest first.
func (a *AuditAPI) Last(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	limit, err := target.Int(q, "limit", 100, 1, 1000)
	if err != nil {
		return err
	}
	var before uint64
	if text := q.Get("before"); text != "" {
		if before, err = strconv.ParseUint(text, 10, 64); err != nil {
			return problem.Newf(http.StatusBadRequest, "Bad parameter", "before=%.40q is not a number of an entry", text)
		}
	}
	list, err := LastAct(disk.OS{}, a.Dir, limit, before)
	if err != nil {
		return err
	}
	if list == nil {
		list = []AuditEntry{} // [] in JSON
	}
	return answer.JSON(w, r, map[string]any{"entries": list})
}

// Verify answers GET /audit/verify: whether the lines follow each other.
func (a *AuditAPI) Verify(w http.ResponseWriter, r *http.Request) error {
	report, err := VerifyAudit(disk.OS{}, a.Dir)
	if err != nil {
		return err
	}
	return answer.JSON(w, r, report)
}
