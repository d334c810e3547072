package replica_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"odarchive/sparqlapi/replica"
)

func TestWhoWantsToFollowAReplicaIsToldWhomToFollow(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	f := newFollower(t, w)
	f.catchUp(w)
	between := httptest.NewServer(f.f)
	t.Cleanup(between.Close)
	err := replica.Answers(t.Context(), between.URL+"/", token)
	if err == nil || !strings.Contains(err.Error(), "this server is a replica itself; follow "+w.web.URL+"/") ||
		strings.Contains(err.Error(), "file") {
		t.Error(err)
	}
}
