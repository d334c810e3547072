// Knows licences by the many names and addresses that portals write for them.

package catalog

import "strings"

// Licence is a known licence. Open reports whether it conforms to the Open Definition 2.1
// (opendefinition.org/licenses).
type Licence struct {
	ID   string
	Open bool
}

// licenses lists licences with the prefixes of what people write for them, folded (see fold). The longest matching
// prefix counts. Prefixes of up to three letters may only be followed by a version.
var licenses = []struct {
	Licence
	words string
}{
	{Licence{"CC0", true}, "cc0 cc-zero cczero creativecommons-org-publicdomain-zero creative-commons-zero creative-commons-cc0 cc-0"},
	{
		Licence{"CC-PDM", true},
		"creativecommons-org-publicdomain-mark public-domain publicdomain other-pd us-pd usgov-pd us-government-work usgovernmentworks " +
			"usa-gov-publicdomain usa-gov-government-works pd"},
	{Licence{"PDDL", true}, "pddl odc-pddl opendatacommons-org-licenses-pddl open-data-commons-public-domain"},
	{
		Licence{"CC-BY", true},
		"cc-by ccby creativecommons-org-licenses-by creative-commons-attribution creative-commons-by creative-commons-namensnennung " +
			"publications-europa-eu-resource-authority-licence-cc-by"},
	{Licence{"CC-BY-SA", true},
		"cc-by-sa ccbysa creativecommons-org-licenses-by-sa creative-commons-attribution-share creative-commons-attribution-sharealike " +
			"publications-europa-eu-resource-authority-licence-cc-by-sa"},
	{Licence{"CC-BY-NC", false},
		"cc-by-nc cc-nc creativecommons-org-licenses-by-nc creative-commons-attribution-noncommercial " +
			"creative-commons-attribution-non-commercial creative-commons-non-commercial " +
			"publications-europa-eu-resource-authority-licence-cc-by-nc"},
	{Licence{"CC-BY-ND", false},
		"cc-by-nd creativecommons-org-licenses-by-nd creative-commons-attribution-noderiv creative-commons-attribution-no-deriv " +
			"publications-europa-eu-resource-authority-licence-cc-by-nd"},
	{Licence{"ODC-BY", true}, "odc-by opendatacommons-org-licenses-by open-data-commons-attribution"},
	{Licence{"ODbL", true}, "odbl odc-odbl opendatacommons-org-licenses-odbl open-data-commons-open-database open-database-license"},
	{Licence{"GFDL", true}, "gfdl gnu-free-documentation gnu-org-licenses-fdl gnu-org-copyleft-fdl"},
	{
		Licence{"OGL-UK", true},
		"uk-ogl ogl ogl-uk nationalarchives-gov-uk-doc-open-government-licence uk-open-government-licence open-government-licence " +
			"nationalarchives-gov-uk-doc-open-government-licence"},
	{Licence{"OGL-Canada", true}, "ogl-canada ca-ogl open-government-licence-canada open-canada-ca-en-open-government-licence"},
	{Licence{"DL-DE-BY", true},
		"dl-de-by govdata-de-dl-de-by govdata-de-dl-de-by dcat-ap-de-def-licenses-dl-by-de datenlizenz-deutschland-namensnennung " +
			"data-licence-germany-attribution"},
	{Licence{"DL-DE-BY-NC", false}, "dl-de-by-nc govdata-de-dl-de-by-nc datenlizenz-deutschland-namensnennung-nicht-kommerziell"},
	{Licence{"DL-DE-Zero", true},
		"dl-de-zero govdata-de-dl-de-zero govdata-de-dl-de-zero dcat-ap-de-def-licenses-dl-zero-de datenlizenz-deutschland-zero " +
			"data-licence-germany-zero"},
	{
		Licence{"Etalab", true},
		"etalab fr-lo lov2 licence-ouverte open-licence etalab-gouv-fr-licence-ouverte etalab-gouv-fr-wp-content-uploads " +
			"github-com-etalab-licence-ouverte"},
	{Licence{"IODL", true}, "iodl dati-gov-it-iodl italian-open-data"},
	{Licence{"NLOD", true}, "nlod data-norge-no-nlod norwegian-licence-for-open-government"},
	{Licence{"GeoNutz", false}, "geonutz geonutzv"},
	{Licence{"EUPL", true}, "eupl joinup-ec-europa-eu-collection-eupl european-union-public"},
	{Licence{"MIT", true}, "mit mit-license opensource-org-licenses-mit opensource-org-licenses-mit"},
	{Licence{"Apache-2.0", true}, "apache apache-2 apache-org-licenses-license-2 apache-license"},
	{Licence{"BSD", true}, "bsd bsd-2 bsd-3 opensource-org-licenses-bsd"},
	{Licence{"GPL", true}, "gpl gnu-gpl agpl lgpl gnu-org-licenses-gpl gnu-org-licenses-agpl gnu-org-licenses-lgpl gnu-general-public"},
	{Licence{"MPL", true}, "mpl mozilla-public"},
	{Licence{"FAL", true}, "fal artlibre-org free-art"},
	{Licence{"NCSA", true}, "ncsa"},
	{Licence{"other open", true}, "other-open other-at-attribution other-at open-license-other"},
	{Licence{"other closed", false}, "other-closed other-nc closed all-rights-reserved"},
	{Licence{"OpenData.swiss open", true},
		"terms-open dcat-ap-ch-vocabulary-licenses-terms-open terms-by dcat-ap-ch-vocabulary-licenses-terms-by"},
	{Licence{"OpenData.swiss ask", false},
		"terms-ask dcat-ap-ch-vocabulary-licenses-terms-ask terms-by-ask dcat-ap-ch-vocabulary-licenses-terms-by-ask"},
	{Licence{"PSI", false}, "psi uk-psi"},
}

// foldLicence folds a URL or words into one spelling: "https://creativecommons.org/licenses/by/4.0/" and "CC BY 4.0"
// become "creativecommons-org-licenses-by-4-0" and "cc-by-4-0".
func foldLicence(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	for _, scheme := range []string{"https://", "http://", "urn:"} {
		s = strings.TrimPrefix(s, scheme)
	}
	s = strings.TrimPrefix(s, "www.")
	for _, list := range []string{"opendefinition.org/licenses/", "spdx.org/licenses/"} {
		s = strings.TrimPrefix(s, list)
	}
	var b strings.Builder
	dash := false
	for _, r := range s {
		if (r >= 'a' && r <= 'z') || (r >= '0' && r <= '9') || r > 0x7f {
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			dash = false
			b.WriteRune(r)
			continue
		}
		dash = true
	}
	return b.String()
}

// LicenceOf returns the licence of a declaration: a URL, an identifier, or a name. ok is false if it is unknown.
func LicenceOf(s string) (l Licence, ok bool) {
	folded := foldLicence(s)
	best, longest := Licence{}, 0
	for _, known := range licenses {
		for _, word := range strings.Fields(known.words) {
			if len(word) > longest && begins(folded, word) {
				best, longest = known.Licence, len(word)
			}
		}
	}
	return best, longest > 0
}

// begins reports whether s begins with whole words. After a short one, only a version may follow.
func begins(s, word string) bool {
	rest, ok := strings.CutPrefix(s, word)
	if !ok || (rest != "" && rest[0] != '-' && (rest[0] < '0' || rest[0] > '9')) {
		return false
	}
	if len(word) <= 3 && rest != "" {
		rest = strings.TrimPrefix(rest, "-")
		return len(rest) > 0 && (rest[0] >= '0' && rest[0] <= '9' || strings.HasPrefix(rest, "v"))
	}
	return true
}
