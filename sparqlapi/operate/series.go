package operate

import (
	"net/http"
	"net/url"
	"time"

	"odarchive/crawler/archive/series"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/problem"
)

// Series answers GET /crawl/series?from=&to=&step=: what was visited over time. Without parameters: the last day, by
// the hour.
func (a *ControlAPI) Series(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	now := time.Now
	if a.Now != nil {
		now = a.Now
	}
	to, err := timeIn(q, "to", now())
	if err != nil {
		return err
	}
	from, err := timeIn(q, "from", to.Add(-24*time.Hour))
	if err != nil {
		return err
	}
	step := time.Hour
	if text := q.Get("step"); text != "" {
		if step, err = time.ParseDuration(text); err != nil || step < series.Fine || step > series.Kept {
			return problem.Newf(http.StatusBadRequest, "Bad parameter", "step=%q: expected a time such as 5m, 1h or 24h, 5m at least", text)
		}
	}
	if !from.Before(to) {
		return problem.New(http.StatusBadRequest, "Bad parameter", "from must be before to")
	}
	slots, err := a.Progress.Series(from, to, step)
	if err != nil {
		return err
	}
	if slots == nil {
		slots = []series.Slot{} // [] in JSON
	}
	return answer.JSON(w, r, map[string]any{"step": step.Truncate(series.Fine).Seconds(), "slots": slots})
}

func timeIn(q url.Values, name string, otherwise time.Time) (time.Time, error) {
	text := q.Get(name)
	if text == "" {
		return otherwise, nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.Year() < 1970 || t.Year() > 2200 {
		return t, problem.Newf(http.StatusBadRequest, "Bad parameter", "%s=%q is not an RFC 3339 time", name, text)
	}
	return t, nil
}
