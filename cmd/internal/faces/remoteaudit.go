package faces

import (
	"context"
	"net/http"
	"strconv"

	"odarchive/sparqlapi/operate"
)

// Audit returns the latest entries of the server's audit log, newest first.
func (r *Remote) Audit(ctx context.Context, limit int) ([]operate.AuditEntry, error) {
	var list struct{ Entries []operate.AuditEntry }
	err := r.answer(ctx, http.MethodGet, "/api/v1/audit?limit="+strconv.Itoa(limit), "", nil, &list)
	return list.Entries, err
}

// VerifyAudit checks the server's audit log.
func (r *Remote) VerifyAudit(ctx context.Context) (report operate.AuditReport, err error) {
	err = r.answer(ctx, http.MethodGet, "/api/v1/audit/verify", "", nil, &report)
	return report, err
}
