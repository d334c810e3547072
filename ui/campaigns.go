package ui

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/follow/discover"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

// Campaigns lists, shows and directs campaigns; campaign.Store implements it.
type Campaigns interface {
	List(ctx context.Context) ([]campaign.Campaign, error)
	Show(ctx context.Context, name string) (campaign.Shown, error)
	Run(ctx context.Context, d campaign.Document) (campaign.Campaign, error)
	Pause(ctx context.Context, name string) (campaign.Campaign, error)
	Resume(ctx context.Context, name string) (campaign.Campaign, error)
	Stop(ctx context.Context, name string) (campaign.Campaign, error)
}

// listCampaigns returns all campaigns, none if Options.Campaigns is not set.
func (u *UI) listCampaigns(ctx context.Context) ([]campaign.Campaign, error) {
	if u.campaigns == nil {
		return nil, nil
	}
	return u.campaigns.List(ctx)
}

// campaignsPage lists campaigns, and has the form that begins one.
type campaignsPage struct {
	Campaigns []campaign.Campaign
	Form      siteForm
	May       bool // this server takes orders from those who have its token
	Signed    bool // the browser has signed in
	Running   int
}

// siteForm is what the form of a discovery contains, as it was sent.
type siteForm struct {
	URL, Keywords, Budget string
	Error                 string // why it was not accepted
}

// campaignView is one campaign.
type campaignView struct {
	campaign.Shown
	May     bool
	Signed  bool   // the browser has signed in
	Error   string // why an order was not carried out
	Harvest bool   // it discovers or harvests
	Live    bool
}

// Share returns the part of the budget that is used, in percent.
func (v campaignView) Share() int {
	if v.Progress == nil || v.Progress.Budget == 0 {
		return 0
	}
	return min(100, 100*v.Progress.Requests/v.Progress.Budget)
}

// Held reports whether the state needs somebody's attention: something failed, or waits for an order.
func (v campaignView) Held() bool {
	if v.State == campaign.Running || v.Why == "" {
		return false
	}
	bad := slices.ContainsFunc(v.Tasks, func(t campaign.Task) bool { return t.IsHarvest() && t.Bad })
	return bad || !v.Harvest || v.State != campaign.Finished
}

// Scored reports whether the finds have a score that tells anything.
func (v campaignView) Scored() bool { return v.Document.Kind == campaign.KindDiscover }

// campaignPage answers GET /campaign: all campaigns, or with ?name= one of them.
func (u *UI) campaignPage(w http.ResponseWriter, r *http.Request) error {
	if name := r.URL.Query().Get("name"); name != "" {
		return u.showCampaign(w, r, http.StatusOK, name, "")
	}
	return u.showCampaigns(w, r, http.StatusOK, siteForm{Budget: strconv.Itoa(discover.DefaultBudget)})
}

func (u *UI) showCampaigns(w http.ResponseWriter, r *http.Request, status int, form siteForm) error {
	all, err := u.listCampaigns(r.Context())
	if err != nil {
		return err
	}
	page := campaignsPage{Campaigns: all, Form: form, May: u.may() && u.campaigns != nil, Signed: signed(r, access.Crawl)}
	for _, c := range all {
		if c.State == campaign.Running {
			page.Running++
		}
	}
	return u.render(w, r, status, "campaigns", view{Title: "Campaigns", Section: "/campaign", Page: page})
}

func (u *UI) showCampaign(w http.ResponseWriter, r *http.Request, status int, name, fault string) error {
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
	v := campaignView{Shown: c, May: u.may(), Signed: signed(r, access.Crawl), Error: fault, Harvest: c.Document.Harvests(),
		Live: status == http.StatusOK && (c.State == campaign.Running || c.State == campaign.Paused)}
	return u.render(w, r, status, "campaign", view{Title: "Campaign " + name, Section: "/campaign", Page: v})
}

// maxForm bounds a form, in bytes.
const maxForm = 64 << 10

// orderedBy reads a form and checks its token. The status is 0 if the order may be carried out.
func (u *UI) orderedBy(w http.ResponseWriter, r *http.Request) (status int, why string) {
	return u.orderedWith(w, r, func() access.Right { return access.Crawl })
}

// orderedWith is orderedBy with the right that the form needs, which is asked for after it has been read.
func (u *UI) orderedWith(w http.ResponseWriter, r *http.Request, right func() access.Right) (status int, why string) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	w.Header().Set("Cache-Control", "no-store")
	if err := r.ParseForm(); err != nil {
		return http.StatusBadRequest, "The form cannot be read."
	}
	if u.guard == nil || u.campaigns == nil {
		return http.StatusForbidden, "This server takes no orders."
	}
	if err := u.guard.CheckToken(r, r.PostForm.Get("token"), right()); err != nil {
		var p *problem.Error
		if errors.As(err, &p) && p.Status == http.StatusUnauthorized {
			return p.Status, "The token of this server is missing."
		}
		return http.StatusForbidden, "This is not the token of this server."
	}
	return 0, ""
}

// campaignForm answers POST /campaign: the form "find all data of a site", or an order to one campaign.
func (u *UI) campaignForm(w http.ResponseWriter, r *http.Request) error {
	status, why := u.orderedBy(w, r)
	if r.PostForm.Get("name") == "" { // also a form that cannot be read
		return u.beginCampaign(w, r, status, why)
	}
	return u.orderCampaign(w, r, status, why)
}

// beginCampaign begins a discovery, unless status says why not.
func (u *UI) beginCampaign(w http.ResponseWriter, r *http.Request, status int, why string) error {
	form := siteForm{URL: strings.TrimSpace(r.PostForm.Get("url")), Keywords: strings.TrimSpace(r.PostForm.Get("keywords")),
		Budget: strings.TrimSpace(r.PostForm.Get("budget"))}
	if status == 0 {
		name, err := u.begin(context.WithoutCancel(r.Context()), form)
		if err == nil {
			target.Redirect(w, "/campaign?name="+url.QueryEscape(name), http.StatusSeeOther)
			return nil
		}
		if !errors.Is(err, campaign.ErrBad) {
			return err
		}
		status, why = http.StatusBadRequest, err.Error()
	}
	form.Error = why
	return u.showCampaigns(w, r, status, form)
}

// begin begins the discovery that a form describes and returns its name.
func (u *UI) begin(ctx context.Context, form siteForm) (name string, err error) {
	if form.URL != "" && !strings.Contains(form.URL, "://") {
		form.URL = "https://" + form.URL
	}
	o := discover.Options{URL: form.URL}
	for _, word := range strings.FieldsFunc(form.Keywords, func(r rune) bool { return r == ',' || r == ';' || r == '\n' || r == '\r' }) {
		if word = strings.TrimSpace(word); word != "" {
			o.Keywords = append(o.Keywords, word)
		}
	}
	if form.Budget != "" {
		if o.Budget, err = strconv.Atoi(form.Budget); err != nil || o.Budget <= 0 {
			return "", fmt.Errorf("%w: the budget %.20q is not a number of requests", campaign.ErrBad, form.Budget)
		}
	}
	if o, err = o.Normalise(); err != nil {
		return "", fmt.Errorf("%w: %w", campaign.ErrBad, err)
	}
	if name, err = u.nameFor(ctx, o.URL); err != nil {
		return "", err
	}
	_, err = u.campaigns.Run(ctx, campaign.Document{Name: name, Kind: campaign.KindDiscover, Discover: &o})
	return name, err
}

// maxNames is how many campaigns may have names made of one host.
const maxNames = 100

// nameFor returns the name of a discovery of a site: its host, with a number if a campaign about something else has
// that.
func (u *UI) nameFor(ctx context.Context, site string) (string, error) {
	at, err := url.Parse(site)
	if err != nil {
		return "", fmt.Errorf("%w: %w", campaign.ErrBad, err)
	}
	base := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '-' {
			return c
		}
		return '-'
	}, strings.ToLower(at.Host))
	base = strings.TrimLeft(base[:min(len(base), 50)], ".-")
	if base == "" {
		base = "site"
	}
	for n := 1; n <= maxNames; n++ {
		name := base
		if n > 1 {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		c, err := u.campaigns.Show(ctx, name)
		if errors.Is(err, campaign.ErrUnknown) || err == nil && c.Document.Kind == campaign.KindDiscover && c.Document.Address() == site {
			return name, nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("%w: there are too many campaigns named %s", campaign.ErrBad, base)
}

// orderCampaign pauses, resumes or stops a campaign, or begins another round, unless status says why not.
func (u *UI) orderCampaign(w http.ResponseWriter, r *http.Request, status int, why string) error {
	name := r.PostForm.Get("name")
	if status != 0 {
		return u.showCampaign(w, r, status, name, why)
	}
	ctx := context.WithoutCancel(r.Context())
	var err error
	switch order := r.PostForm.Get("order"); order {
	case "pause":
		_, err = u.campaigns.Pause(ctx, name)
	case "resume":
		_, err = u.campaigns.Resume(ctx, name)
	case "stop":
		_, err = u.campaigns.Stop(ctx, name)
	case "again":
		var c campaign.Shown
		if c, err = u.campaigns.Show(ctx, name); err == nil {
			_, err = u.campaigns.Run(ctx, c.Document)
		}
	default:
		err = fmt.Errorf("%w: there is no order %.40q", campaign.ErrBad, order)
	}
	switch {
	case errors.Is(err, campaign.ErrUnknown):
		return problem.Wrap(http.StatusNotFound, "No such campaign", err)
	case errors.Is(err, campaign.ErrBad):
		return u.showCampaign(w, r, http.StatusBadRequest, name, err.Error())
	case err != nil:
		return err
	}
	target.Redirect(w, "/campaign?name="+url.QueryEscape(name), http.StatusSeeOther)
	return nil
}
