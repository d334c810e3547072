package faces

import (
	"context"
	"net/http"
	"net/url"

	"odarchive/crawler/follow/campaign"
)

const campaignsPath = "/api/v1/campaigns"

// Campaigns returns all campaigns of the server.
func (r *Remote) Campaigns(ctx context.Context) (all []campaign.Campaign, err error) {
	err = r.answer(ctx, http.MethodGet, campaignsPath, "", nil, &all)
	return all, err
}

// Campaign returns a campaign with its tasks.
func (r *Remote) Campaign(ctx context.Context, name string) (c campaign.Shown, err error) {
	err = r.answer(ctx, http.MethodGet, campaignsPath+"/"+url.PathEscape(name), "", nil, &c)
	return c, err
}

// OrderCampaign pauses, resumes or stops a campaign: order is the last part of the path.
func (r *Remote) OrderCampaign(ctx context.Context, name, order string) (c campaign.Campaign, err error) {
	err = r.answer(ctx, http.MethodPost, campaignsPath+"/"+url.PathEscape(name)+"/"+order, "", nil, &c)
	return c, err
}
