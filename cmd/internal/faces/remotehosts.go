package faces

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"odarchive/crawler/web/hosts"
)

const settingsPath = "/api/v1/crawl/settings"

// HostSettings returns the settings of hosts of the server.
func (r *Remote) HostSettings() RemoteHosts { return RemoteHosts{r} }

// RemoteHosts are settings of hosts in another process.
type RemoteHosts struct{ r *Remote }

// HostRules returns all rules.
func (h RemoteHosts) HostRules(ctx context.Context) ([]hosts.Listed, error) {
	var list struct{ Rules []hosts.Listed }
	err := h.r.answer(ctx, http.MethodGet, settingsPath, "", nil, &list)
	return list.Rules, err
}

// ViewHost returns what applies to a host.
func (h RemoteHosts) ViewHost(ctx context.Context, name string) (v hosts.View, err error) {
	err = h.r.answer(ctx, http.MethodGet, settingsPath+"?"+url.Values{"host": {name}}.Encode(), "", nil, &v)
	return v, err
}

// SetHosts is that of control.HostSettings.
func (h RemoteHosts) SetHosts(ctx context.Context, match string, values map[string]string) (rule hosts.Rule, err error) {
	return rule, h.order(ctx, "", map[string]any{"match": match, "set": values}, &rule)
}

// UnsetHosts is that of control.HostSettings.
func (h RemoteHosts) UnsetHosts(ctx context.Context, match string) error {
	body, err := h.r.do(ctx, http.MethodDelete, settingsPath+"?"+url.Values{"match": {match}}.Encode(), "", nil)
	if err != nil {
		return err
	}
	return body.Close()
}

// PauseHosts is that of control.HostSettings.
func (h RemoteHosts) PauseHosts(ctx context.Context, match, why string) error {
	return h.order(ctx, "/pause", map[string]any{"match": match, "why": why}, new(any))
}

// ResumeHosts is that of control.HostSettings.
func (h RemoteHosts) ResumeHosts(ctx context.Context, match string) error {
	return h.order(ctx, "/resume", map[string]any{"match": match}, new(any))
}

// ForgetHost is that of control.HostSettings.
func (h RemoteHosts) ForgetHost(ctx context.Context, name string) error {
	return h.order(ctx, "/forget", map[string]any{"host": name}, new(any))
}

func (h RemoteHosts) order(ctx context.Context, path string, order map[string]any, into any) error {
	body, err := json.Marshal(order)
	if err != nil {
		return err
	}
	return h.r.answer(ctx, http.MethodPost, settingsPath+path, "application/json", body, into)
}
