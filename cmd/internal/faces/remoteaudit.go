package faces

import (
	"context"
	"net/http"
	"strconv"

	"odarchive/sparqlapi/audit"
)

// Audit returns the latest entries of the server's audit log, newest first.
func (r *Remote) Audit(ctx context.Context, limit int) ([]audit.Entry, error) {
	var list struct{ Entries []audit.Entry }
	err := r.answer(ctx, http.MethodGet, "/api/v1/audit?limit="+strconv.Itoa(limit), "", nil, &list)
	return list.Entries, err
}

// VerifyAudit checks the server's audit log.
func (r *Remote) VerifyAudit(ctx context.Context) (report audit.Report, err error) {
	err = r.answer(ctx, http.MethodGet, "/api/v1/audit/verify", "", nil, &report)
	return report, err
}
