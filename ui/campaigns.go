package ui

import (
	"context"
	"errors"
	"net/http"

	"odarchive/crawler/campaign"
	"odarchive/sparqlapi/problem"
)

// Campaigns lists and shows campaigns; campaign.Store implements it.
type Campaigns interface {
	List(ctx context.Context) ([]campaign.Campaign, error)
	Show(ctx context.Context, name string) (campaign.Shown, error)
}

// listCampaigns returns all campaigns, none if Options.Campaigns is not set.
func (u *UI) listCampaigns(ctx context.Context) ([]campaign.Campaign, error) {
	if u.campaigns == nil {
		return nil, nil
	}
	return u.campaigns.List(ctx)
}

// campaignPage shows one campaign: /campaign?name=.
func (u *UI) campaignPage(w http.ResponseWriter, r *http.Request) error {
	name := r.URL.Query().Get("name")
	if u.campaigns == nil {
		return problem.Newf(http.StatusNotFound, "No such campaign", "there is no campaign %q", name)
	}
	c, err := u.campaigns.Show(r.Context(), name)
	if errors.Is(err, campaign.ErrUnknown) {
		return problem.Wrap(http.StatusNotFound, "No such campaign", err)
	}
	if err != nil {
		return err
	}
	return u.render(w, r, http.StatusOK, "campaign", view{Title: "Campaign " + name, Page: c})
}
