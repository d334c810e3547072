package crs

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Limits of the text of a system.
const (
	maxText  = 64 << 10
	maxDepth = 12
)

// node is an element of a system's text: PROJCS["name", ...].
type node struct {
	word string // in capitals
	text []string
	nums []float64
	kids []*node
}

func (n *node) kid(words ...string) *node {
	if n == nil {
		return nil
	}
	for _, k := range n.kids {
		for _, w := range words {
			if k.word == w {
				return k
			}
		}
	}
	return nil
}

func (n *node) name() string {
	if n == nil || len(n.text) == 0 {
		return ""
	}
	return n.text[0]
}

func (n *node) num(i int) (float64, bool) {
	if n == nil || i >= len(n.nums) {
		return 0, false
	}
	return n.nums[i], true
}

// FromWKT returns the system that a text in WKT describes: that of a .prj file, or of a GeoPackage. The system is
// unknown if the text is not one.
func FromWKT(text string) System {
	if len(text) > maxText {
		return System{}
	}
	p := parser{s: strings.TrimPrefix(text, "\ufeff")}
	root := p.node(0)
	if root == nil || root.name() == "" {
		return System{}
	}
	if root.word == "COMPD_CS" || root.word == "COMPOUNDCRS" { // with heights
		if root = root.kid("PROJCS", "GEOGCS", "PROJCRS", "GEOGCRS", "PROJECTEDCRS", "GEODCRS"); root == nil {
			return System{}
		}
	}
	s := System{Name: shortened(root.name())}
	if code := codeOf(root); code > 0 {
		s = FromEPSG(code)
		s.Name = shortened(root.name())
	}
	if s.inverse == nil {
		switch root.word {
		case "GEOGCS":
			if agrees(root) {
				s.inverse = degrees
			}
		case "PROJCS":
			s.inverse = projected(root)
		}
	}
	return s
}

// parser reads the text of a system.
type parser struct {
	s  string
	at int
}

func (p *parser) skip() byte {
	for p.at < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.at]) >= 0 {
		p.at++
	}
	if p.at >= len(p.s) {
		return 0
	}
	return p.s[p.at]
}

// node reads one element, nil if there is none.
func (p *parser) node(depth int) *node {
	p.skip()
	start := p.at
	for p.at < len(p.s) && (p.s[p.at] == '_' || p.s[p.at]|0x20 >= 'a' && p.s[p.at]|0x20 <= 'z' || p.s[p.at] >= '0' && p.s[p.at] <= '9') {
		p.at++
	}
	n := &node{word: strings.ToUpper(p.s[start:p.at])}
	if c := p.skip(); n.word == "" || depth > maxDepth || c != '[' && c != '(' {
		if n.word != "" && depth <= maxDepth { // a bare word, as an axis' direction
			return n
		}
		return nil
	}
	for p.at++; ; p.at++ {
		switch c := p.skip(); {
		case c == '"':
			p.at++
			end := strings.IndexByte(p.s[p.at:], '"')
			if end < 0 {
				return nil
			}
			n.text = append(n.text, p.s[p.at:p.at+end])
			p.at += end + 1
		case c == '-' || c == '+' || c == '.' || c >= '0' && c <= '9':
			start := p.at
			for p.at < len(p.s) && strings.IndexByte("+-.eE0123456789", p.s[p.at]) >= 0 {
				p.at++
			}
			v, err := strconv.ParseFloat(p.s[start:p.at], 64)
			if err != nil || math.IsInf(v, 0) {
				return nil
			}
			n.nums = append(n.nums, v)
		default:
			kid := p.node(depth + 1)
			if kid == nil {
				return nil
			}
			n.kids = append(n.kids, kid)
		}
		switch p.skip() {
		case ',':
		case ']', ')':
			p.at++
			return n
		default:
			return nil
		}
	}
}

// zones are names of ESRI's systems that contain the number of a UTM zone.
var zones = regexp.MustCompile(
	`^(WGS_1984|WGS_84|ETRS_1989|ETRS89|NAD_1983|NAD83|GDA_1994|GDA2020)_(?:UTM_Zone|MGA_Zone|/_UTM_zone)_(\d{1,2})([NS]?)$`)

// codeOf returns the EPSG code of a system, 0 if it has none.
func codeOf(root *node) int {
	if id := root.kid("AUTHORITY", "ID"); id != nil && strings.EqualFold(id.name(), "EPSG") {
		if len(id.text) > 1 {
			code, err := strconv.Atoi(strings.TrimSpace(id.text[1]))
			if err == nil && code > 0 && code <= maxCode {
				return code
			}
		}
		if v, ok := id.num(0); ok && v > 0 && v <= maxCode {
			return int(v)
		}
	}
	name := strings.ReplaceAll(strings.TrimSpace(root.name()), " ", "_")
	if m := zones.FindStringSubmatch(name); m != nil {
		zone, _ := strconv.Atoi(m[2])
		switch kind := m[1][:3]; {
		case zone < 1 || zone > 60:
		case kind == "WGS" && m[3] == "N":
			return 32600 + zone
		case kind == "WGS" && m[3] == "S":
			return 32700 + zone
		case kind == "ETR" && m[3] != "S" && zone >= 28 && zone <= 38:
			return 25800 + zone
		case kind == "NAD" && m[3] != "S" && zone <= 23:
			return 26900 + zone
		case m[1] == "GDA_1994" && zone >= 48 && zone <= 58:
			return 28300 + zone
		case m[1] == "GDA2020" && zone >= 48 && zone <= 58:
			return 7800 + zone
		}
	}
	return esriNames[name]
}

// esriNames are the codes of systems as ESRI's programs name them in .prj files, which have no codes.
var esriNames = map[string]int{
	"GCS_WGS_1984": 4326, "WGS_84": 4326, "GCS_ETRS_1989": 4258, "ETRS89": 4258, "GCS_North_American_1983": 4269, "NAD83": 4269,
	"GCS_North_American_1927": 4267, "GCS_GDA_1994": 4283, "GDA2020": 7844, "GCS_GDA2020": 7844, "GCS_NZGD_2000": 4167,
	"GCS_SIRGAS_2000": 4674, "GCS_JGD_2011": 6668, "GCS_JGD_2000": 4612, "GCS_China_Geodetic_Coordinate_System_2000": 4490,
	"WGS_1984_Web_Mercator_Auxiliary_Sphere": 3857, "WGS_84_/_Pseudo-Mercator": 3857,
	"WGS_1984_World_Mercator": 3395, "ETRS_1989_LAEA": 3035, "ETRS89-extended_/_LAEA_Europe": 3035, "ETRS_1989_LCC": 3034,
	"MGI_Austria_Lambert": 31287, "MGI_Austria_GK_West": 31254, "MGI_Austria_GK_Central": 31255, "MGI_Austria_GK_East": 31256,
	"MGI_Austria_GK_M28": 31257, "MGI_Austria_GK_M31": 31258, "MGI_Austria_GK_M34": 31259,
	"DHDN_3_Degree_Gauss_Zone_2": 31466, "DHDN_3_Degree_Gauss_Zone_3": 31467, "DHDN_3_Degree_Gauss_Zone_4": 31468,
	"DHDN_3_Degree_Gauss_Zone_5": 31469,
	"British_National_Grid":      27700, "OSGB_1936_/_British_National_Grid": 27700, "OSGB36_/_British_National_Grid": 27700,
	"RGF_1993_Lambert_93": 2154, "RGF93_v1_/_Lambert-93": 2154, "RGF93_/_Lambert-93": 2154, "CH1903+_LV95": 2056, "CH1903_LV03": 21781,
	"RD_New": 28992, "Amersfoort_/_RD_New": 28992, "Belge_Lambert_1972": 31370, "Belge_Lambert_2008": 3812,
	"ETRS89_/_Belgian_Lambert_2008":      3812,
	"IRENET95_Irish_Transverse_Mercator": 2157, "IRENET95_/_Irish_Transverse_Mercator": 2157, "TM65_Irish_Grid": 29902,
	"SWEREF99_TM": 3006, "EUREF_FIN_TM35FIN": 3067, "ETRS89_/_TM35FIN(E,N)": 3067, "LKS_1994_Lithuania_TM": 3346,
	"LKS_1992_Latvia_TM":                 3059,
	"Estonian_Coordinate_System_of_1997": 3301, "ETRS_1989_Poland_CS92": 2180, "S-JTSK_Krovak_East_North": 5514, "HD_1972_EOV": 23700,
	"NZGD_2000_New_Zealand_Transverse_Mercator": 2193, "NAD_1983_Contiguous_USA_Albers": 5070, "NAD_1983_Statistics_Canada_Lambert": 3347,
	"GDA_1994_Australian_Albers": 3577, "ETRS_1989_TM_Baltic_1993": 25884, "Monte_Mario_Italy_1": 3003, "Monte_Mario_Italy_2": 3004,
}

// datums are those that agree with WGS 84 within a few metres, without blanks and underscores.
var datums = map[string]bool{
	"wgs1984": true, "worldgeodeticsystem1984": true, "wgs84": true, "worldgeodeticsystem1984ensemble": true,
	"etrs1989": true, "europeanterrestrialreferencesystem1989": true, "europeanterrestrialreferencesystem1989ensemble": true,
	"etrs89":            true,
	"northamerican1983": true, "northamericandatum1983": true, "nad83": true, "northamerican1983csrs": true,
	"nad83canadianspatialreferencesystem": true,
	"rgf1993":                             true, "reseaugeodesiquefrancais1993": true, "gda1994": true,
	"geocentricdatumofaustralia1994": true, "gda2020": true,
	"geocentricdatumofaustralia2020": true, "nzgd2000": true, "newzealandgeodeticdatum2000": true, "sirgas2000": true,
	"sistemadereferenciageocentricoparalasamericas2000": true, "sistemadereferenciageocentricoparaamericadelsur2000": true,
	"jgd2000": true, "jgd2011": true, "japanesegeodeticdatum2000": true, "japanesegeodeticdatum2011": true, "china2000": true,
	"sweref99": true, "eureffin": true, "euref89": true, "irenet1995": true, "irenet95": true, "lks1992": true, "lks1994": true,
	"lithuania1994": true, "latvia1992": true, "estonia1997": true,
	"slovenia1996": true, "slovenianationalreferenceframe1996": true, "croatianterrestrialreferencesystem": true, "turef": true,
	"belgianreferencesystem2008": true,
}

// agrees reports whether a geographic system has degrees from Greenwich and a datum that agrees with WGS 84.
func agrees(geographic *node) bool {
	datum := geographic.kid("DATUM")
	name := strings.ToLower(strings.NewReplacer("_", "", " ", "", "-", "", "(", "", ")",
		"").Replace(strings.TrimPrefix(datum.name(), "D_")))
	if !datums[name] {
		return false
	}
	if meridian, ok := geographic.kid("PRIMEM").num(0); ok && meridian != 0 {
		return false
	}
	if shift := datum.kid("TOWGS84"); shift != nil {
		for _, v := range shift.nums {
			if v != 0 {
				return false
			}
		}
	}
	unit, ok := geographic.kid("UNIT").num(0)
	return ok && math.Abs(unit-toRadians) < 1e-9
}

// projected returns the conversion of a projected system, nil if it has none.
func projected(root *node) inverse {
	geographic := root.kid("GEOGCS")
	if geographic == nil || !agrees(geographic) {
		return nil
	}
	axis, ok1 := geographic.kid("DATUM").kid("SPHEROID", "ELLIPSOID").num(0)
	flat, ok2 := geographic.kid("DATUM").kid("SPHEROID", "ELLIPSOID").num(1)
	unit, ok3 := root.kid("UNIT").num(0)
	if !ok1 || !ok2 || !ok3 || axis < 6.3e6 || axis > 6.4e6 || flat < 290 || flat > 310 || unit <= 0 || unit > 2000 {
		return nil
	}
	e := ellipsoid{axis, 1 / flat}
	p := params{scale: 1}
	lat1, hasLat1, hasLat2, more := 0.0, false, false, false
	for _, k := range root.kids {
		v, ok := k.num(0)
		if k.word != "PARAMETER" || !ok {
			continue
		}
		switch strings.ToLower(strings.ReplaceAll(k.name(), " ", "_")) {
		case "false_easting":
			p.east = v * unit
		case "false_northing":
			p.north = v * unit
		case "central_meridian", "longitude_of_center", "longitude_of_origin":
			p.lon0 = v
		case "latitude_of_origin", "latitude_of_center":
			p.lat0 = v
		case "standard_parallel_1":
			lat1, hasLat1 = v, true
		case "standard_parallel_2":
			p.lat2, hasLat2 = v, true
		case "scale_factor":
			p.scale = v
		default:
			more = true // of another projection
		}
	}
	if more || !(p.scale > 0.5 && p.scale < 2) || !(math.Abs(p.lon0) <= 180) || !(math.Abs(p.lat0) <= 90) || !(math.Abs(lat1) < 90) ||
		!(math.Abs(p.lat2) < 90) {
		return nil
	}
	p.lat1 = lat1
	var f inverse
	switch strings.ToLower(root.kid("PROJECTION").name()) {
	case "transverse_mercator", "gauss_kruger":
		f = e.transverseMercator(p)
	case "lambert_conformal_conic", "lambert_conformal_conic_2sp", "lambert_conformal_conic_1sp":
		switch {
		case !hasLat1: // the parallel of origin is the standard one
			p.lat1, p.lat2 = p.lat0, p.lat0
		case !hasLat2:
			p.lat2 = p.lat1
		}
		f = e.conformalConic(p)
	case "albers", "albers_conic_equal_area":
		if hasLat1 && hasLat2 {
			f = e.equalAreaConic(p)
		}
	case "lambert_azimuthal_equal_area":
		f = e.azimuthalEqualArea(p)
	case "mercator", "mercator_1sp", "mercator_2sp":
		f = e.mercator(p)
	}
	if f == nil || unit == 1 {
		return f
	}
	return func(x, y float64) (lon, lat float64, ok bool) { return f(x*unit, y*unit) }
}
