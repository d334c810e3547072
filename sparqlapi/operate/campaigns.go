package operate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"

	"odarchive/crawler/follow/campaign"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"

	"github.com/go-chi/chi/v5"
)

// CampaignStore is what the campaigns' routes need of campaign.Store.
type CampaignStore interface {
	List(ctx context.Context) ([]campaign.Campaign, error)
	Show(ctx context.Context, name string) (campaign.Shown, error)
	Run(ctx context.Context, d campaign.Document) (campaign.Campaign, error)
	Pause(ctx context.Context, name string) (campaign.Campaign, error)
	Resume(ctx context.Context, name string) (campaign.Campaign, error)
	Stop(ctx context.Context, name string) (campaign.Campaign, error)
}

var _ CampaignStore = (*campaign.Store)(nil)

// Campaigns answers GET /campaigns: all campaigns, by name.
func (a *ControlAPI) Campaigns(w http.ResponseWriter, r *http.Request) error {
	all, err := a.CampaignStore.List(r.Context())
	if err != nil {
		return err
	}
	if all == nil {
		all = []campaign.Campaign{} // [] in JSON
	}
	return answer.JSON(w, r, all)
}

// Campaign answers GET /campaigns/{name}: a campaign with its endpoints and portals.
func (a *ControlAPI) Campaign(w http.ResponseWriter, r *http.Request) error {
	c, err := a.CampaignStore.Show(r.Context(), chi.URLParam(r, "name"))
	if err != nil {
		return campaignProblem(err)
	}
	return answer.JSON(w, r, c)
}

// RunCampaign answers POST /campaigns with a document: the campaign begins, goes on, or begins a new round.
func (a *ControlAPI) RunCampaign(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	d, err := readCampaign(r.Header.Get("Content-Type"), body)
	if err != nil {
		return campaignProblem(err)
	}
	if err := MayRun(r.Context(), d); err != nil {
		return err
	}
	c, err := a.CampaignStore.Run(r.Context(), d)
	if err != nil {
		return campaignProblem(err)
	}
	return answer.JSON(w, r, c)
}

// MayRun returns nil if the caller of a request's context may have a document run, or else a problem of status 403. A
// document sends a variable of the server's environment to the host that it names itself: who may direct the crawl
// could have any of them sent to a host of theirs. So that needs the right to everything.
func MayRun(ctx context.Context, d campaign.Document) error {
	secret := d.Secret()
	if caller, _ := access.Of(ctx); secret == "" || caller.Rights.Has(access.Admin) {
		return nil
	}
	return problem.Newf(http.StatusForbidden, "The token lacks a right",
		"the document names a secret of the server (%.80q) and the host that gets it; this needs the right admin", secret)
}

// readCampaign reads a document in JSON, or in TOML if its type says so. Settings that do not exist are refused.
func readCampaign(contentType string, body []byte) (d campaign.Document, err error) {
	if kind, _, err := mime.ParseMediaType(contentType); err == nil && kind == "application/toml" {
		return campaign.Parse(body, nil)
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return d, problem.Newf(http.StatusBadRequest, "Not a campaign",
			`expected {"name": "...", "seeds": ["https://..."], "scope": ["host"], ...}: %v`, err)
	}
	return d, nil
}

// PauseCampaign, ResumeCampaign and StopCampaign answer POST /campaigns/{name}/pause, resume and stop.
func (a *ControlAPI) PauseCampaign(w http.ResponseWriter, r *http.Request) error {
	return a.orderCampaign(w, r, a.CampaignStore.Pause)
}

func (a *ControlAPI) ResumeCampaign(w http.ResponseWriter, r *http.Request) error {
	return a.orderCampaign(w, r, a.CampaignStore.Resume)
}

func (a *ControlAPI) StopCampaign(w http.ResponseWriter, r *http.Request) error {
	return a.orderCampaign(w, r, a.CampaignStore.Stop)
}

func (a *ControlAPI) orderCampaign(w http.ResponseWriter, r *http.Request,
	do func(context.Context, string) (campaign.Campaign, error)) error {
	c, err := do(r.Context(), chi.URLParam(r, "name"))
	if err != nil {
		return campaignProblem(err)
	}
	return answer.JSON(w, r, c)
}

func campaignProblem(err error) error {
	switch {
	case errors.Is(err, campaign.ErrUnknown):
		return problem.Wrap(http.StatusNotFound, "No such campaign", err)
	case errors.Is(err, campaign.ErrBad):
		return problem.Wrap(http.StatusBadRequest, "Not a campaign", err)
	}
	return err
}
