package crs

import (
	"math"
	"strings"
	"testing"

	"odarchive/triplestore/geometry"
)

// What PROJ 9 makes of longitudes and latitudes in the datum of each system.
var projectedPoints = []struct {
	code           int
	lon, lat, x, y float64
}{
	{32633, 15.5, 48.2, 537153.311, 5338650.635},
	{32633, 11.9, -0.1, 154878.577, -11069.312},
	{32733, 15.5, -33.9, 546228.176, 6248819.230},
	{25832, 9, 50, 500000.000, 5538630.703},
	{25832, 6.01, 55.2, 309716.735, 6121126.127},
	{26910, -122.4, 37.7, 552892.516, 4172699.609},
	{28355, 147, -37, 500000.000, 5905127.630},
	{7855, 147, -37, 500000.000, 5905127.630},
	{31970, -90, 15, 177349.038, 1660513.687},
	{31983, -46.6, -23.5, 336625.132, 7400218.860},
	{3857, 16.37, 48.2, 1822300.064, 6140192.439},
	{3857, -179.9, -80, -20026376.394, -15538711.096},
	{3395, 16.37, 48.2, 1822300.064, 6108322.788},
	{3035, 16.37, 48.2, 4794075.836, 2807806.423},
	{3035, -9, 38, 2659511.653, 1865785.385},
	{3035, 25, 60, 5152827.254, 4188383.611},
	{3034, 16.37, 48.2, 4457153.486, 2411462.559},
	{3034, -9, 38, 2368722.764, 1497588.751},
	{2154, 2.35, 48.85, 652301.565, 6861302.726},
	{2154, 9.2, 42, 1214211.706, 6120136.398},
	{3812, 4.35, 50.85, 648679.018, 671067.056},
	{3301, 24.75, 59.4, 542605.181, 6584912.280},
	{3347, -75.7, 45.4, 7471636.525, 1188239.546},
	{3347, -123, 49, 4011799.049, 1975472.458},
	{3978, -75.7, 45.4, 1511127.636, -172193.060},
	{5070, -77, 38.9, 1621622.672, 1926349.557},
	{5070, -120, 47, -1814348.817, 2898017.013},
	{3577, 149, -35.3, 1538578.113, -3958000.496},
	{3577, 115, -32, -1587422.141, -3593104.477},
	{3006, 18, 59.3, 670817.916, 6577304.567},
	{3067, 25, 60.2, 389130.042, 6675364.495},
	{3067, 20, 69, 220558.514, 7670323.424},
	{3346, 25.3, 54.7, 583792.783, 6063397.192},
	{3059, 24.1, 56.9, 506091.071, 306258.930},
	{3765, 16, 45.8, 461132.940, 5073470.250},
	{3794, 14.5, 46, 461272.240, 95697.875},
	{2180, 21, 52.2, 636640.467, 483432.201},
	{2157, -6.3, 53.3, 713315.457, 729093.259},
	{2193, 174.8, -41.3, 1750697.521, 5426376.623},
	{3763, -9.1, 38.7, -84111.772, -107051.309},
	{4647, 9.5, 53, 32533555.069, 5872387.458},
	{3044, 9.5, 53, 533555.069, 5872387.458},
	{3045, 13, 52, 362705.634, 5762926.813},
}

func TestCoordinatesBecomeDegreesAsInPROJ(t *testing.T) {
	t.Parallel()
	for _, p := range projectedPoints {
		s := FromEPSG(p.code)
		if s.inverse == nil {
			t.Errorf("%d cannot be converted", p.code)
			continue
		}
		lon, lat, ok := s.inverse(p.x, p.y)
		if !ok || math.Abs(lon-p.lon) > 2e-7 || math.Abs(lat-p.lat) > 2e-7 { // the coordinates have millimetres
			t.Errorf("%d: %v %v is %v %v, not %v %v", p.code, p.x, p.y, lon, lat, p.lon, p.lat)
		}
	}
}

func TestTextsOfSystems(t *testing.T) {
	t.Parallel()
	const (
		wgs84 = `GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["De` +
			`gree",0.0174532925199433]]`
		nad83 = `GEOGCS["GCS_North_American_1983",DATUM["D_North_American_1983",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Gr` +
			`eenwich",0.0],UNIT["Degree",0.0174532925199433]]`
		mgi = `GEOGCS["GCS_MGI",DATUM["D_MGI",SPHEROID["Bessel_1841",6377397.155,299.1528128]],PRIMEM["Greenwich",0.0],UNIT["Degree",0` +
			`.0174532925199433]]`
		utm = `,PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",0.0],PARAMETER["Centr` +
			`al_Meridian",15.0],PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]`
		gk = `,PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",0.0],PARAMETER["False_Northing",-5000000.0],PARAMETER["Cen` +
			`tral_Meridian",16.3333333333333],PARAMETER["Scale_Factor",1.0],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]`
		laea = `PROJCS["ours",GEOGCS["x",DATUM["D_ETRS_1989",SPHEROID["GRS_1980",6378137.0,298.257222101]],PRIMEM["Greenwich",0.0],UNIT` +
			`["Degree",0.0174532925199433]],PROJECTION["Lambert_Azimuthal_Equal_Area"],PARAMETER["False_Easting",4321000.0],PARAMETER["Fa` +
			`lse_Northing",3210000.0],PARAMETER["Central_Meridian",10.0],PARAMETER["Latitude_Of_Origin",52.0],UNIT["Meter",1.0]]`
		albers = `,PROJECTION["Albers"],PARAMETER["False_Easting",0.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",-96.0` +
			`],PARAMETER["Standard_Parallel_1",29.5],PARAMETER["Standard_Parallel_2",45.5],PARAMETER["Latitude_Of_Origin",23.0],UNIT["Met` +
			`er",1.0]]`
		state = `,PROJECTION["Lambert_Conformal_Conic"],PARAMETER["False_Easting",2000000.0],PARAMETER["False_Northing",0.0],PARAMETER["` +
			`Central_Meridian",-79.0],PARAMETER["Standard_Parallel_1",36.1666666666667],PARAMETER["Standard_Parallel_2",34.3333333333333]` +
			`,PARAMETER["Latitude_Of_Origin",33.75],UNIT["US survey foot",0.304800609601219]]`
	)
	for _, c := range []struct {
		text, iri      string
		x, y, lon, lat float64 // lon 0: not converted
	}{
		{wgs84, epsgIRI + "4326", 16.37, 48.2, 16.37, 48.2},
		{nad83, epsgIRI + "4269", -77, 38.9, -77, 38.9},
		{`PROJCS["WGS_1984_UTM_Zone_33N",` + wgs84 + utm, epsgIRI + "32633", 537153.311, 5338650.635, 15.5, 48.2},
		{`PROJCS["my own zone",` + wgs84 + utm, "", 537153.311, 5338650.635, 15.5, 48.2},
		{`PROJCS["MGI_Austria_GK_East",` + mgi + gk, epsgIRI + "31256", 0, 0, 0, 0},
		{`PROJCS["another",` + mgi + gk, "", 0, 0, 0, 0},
		{laea, "", 4794075.836, 2807806.423, 16.37, 48.2},
		{`PROJCS["ours",` + nad83 + albers, "", 1621622.672, 1926349.557, -77, 38.9},
		{`PROJCS["NAD_1983_StatePlane_North_Carolina_FIPS_3200_Feet",` + nad83 + state, "", 2118612.840444266, 746335.5167520428, -78.6,
			35.8},
		{
			`GEOGCS["by ` +
				`Paris",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Paris",2.337],UNIT["Degree",0.0174532925` +
				`199433]]`, "", 0, 0, 0, 0},
		{
			`GEOGCS["shifted",DATUM["WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563],TOWGS84[1,2,3,0,0,0,0]],PRIMEM["Greenwich",0]` +
				`,UNIT["Degree",0.0174532925199433]]`, "", 0, 0, 0, 0},
		{`PROJCRS["ETRS89 / UTM zone 32N",BASEGEOGCRS["ETRS89"],CS[Cartesian,2],ID["EPSG",25832]]`, epsgIRI + "25832", 500000, 5538630.703,
			9, 50},
		{`COMPD_CS["with heights",PROJCS["a",` + wgs84 + strings.TrimSuffix(utm, "]") + `,AUTHORITY["EPSG","32633"]],VERT_CS["h"]]`,
			epsgIRI + "32633", 537153.311, 5338650.635, 15.5, 48.2},
	} {
		s := FromWKT(c.text)
		if s.IRI != c.iri {
			t.Errorf("%s\nhas the IRI %q, not %q", c.text, s.IRI, c.iri)
		}
		if (s.inverse != nil) != (c.lon != 0) {
			t.Errorf("%s\ncan be converted: %v", c.text, s.inverse != nil)
		} else if s.inverse != nil {
			if lon, lat, ok := s.inverse(c.x, c.y); !ok || math.Abs(lon-c.lon) > 2e-7 || math.Abs(lat-c.lat) > 2e-7 {
				t.Errorf("%s\n%v %v", c.text, lon, lat)
			}
		}
	}
	for _, bad := range []string{"", "[", "GEOGCS", `GEOGCS["`, `GEOGCS["a"`, strings.Repeat("A[", 1000), "GEOGCS[]", "GEOGCS[1e999]",
		`X["a",]`} {
		if s := FromWKT(bad); s.inverse != nil || s.IRI != "" {
			t.Errorf("%.20q is %+v", bad, s)
		}
	}
}

func TestNamesOfSystems(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"urn:ogc:def:crs:OGC:1.3:CRS84": geometry.CRS84, "EPSG:25832": epsgIRI + "25832", "urn:ogc:def:crs:EPSG::31287": epsgIRI + "31287",
		"http://www.opengis.net/def/crs/EPSG/0/4326": epsgIRI + "4326", "urn:ogc:def:crs:EPSG:6.9:3857": epsgIRI + "3857",
		"epsg:900913": epsgIRI + "3857", "http://www.opengis.net/gml/srs/epsg.xml#4258": epsgIRI + "4258", "EPSG:": "", "local": "", "": "",
	} {
		if s := Named(id); s.IRI != want {
			t.Errorf("%s is %q, not %q", id, s.IRI, want)
		}
	}
}

func TestABoxInDegreesIsRightOrMissing(t *testing.T) {
	t.Parallel()
	box := func(w, s, e, n float64) geometry.Box { return geometry.Box{MinX: w, MinY: s, MaxX: e, MaxY: n} }
	inf := math.Inf(1)
	for _, c := range []struct {
		code int
		in   geometry.Box
	}{
		{4326, box(-200, 0, 10, 10)}, {4326, box(0, 0, 10, 95)}, {4326, box(-inf, 0, 10, 10)}, {32633, box(-9e6, 0, 9e6, 10)},
		{32633, box(1, 1, 2, 9e7)}, {3035, box(-1e9, 0, 1e9, 1)}, {31256, box(0, 0, 1, 1)}, {3857, box(0, 0, 3e7, 1)},
		{2193, box(1e6, 5e6, 3e6, 6e6)}, // across 180 degrees
		{4326, box(1, 1, 0, 0)},
	} {
		if b, ok := FromEPSG(c.code).Degrees(c.in); ok {
			t.Errorf("%d %v is %v", c.code, c.in, b)
		}
	}
	// Along a long edge of the projection, the latitude is greatest in the middle.
	b, ok := FromEPSG(3035).Degrees(box(2_500_000, 1_500_000, 6_000_000, 5_400_000))
	if _, middle, _ := FromEPSG(3035).inverse(4_321_000, 5_400_000); !ok || b.MaxY < middle-1e-4 || b.MaxY > middle+1e-4 {
		t.Errorf("%v does not reach to %v", b, middle)
	}
	if b, ok := WGS84().Degrees(box(1, 2, 3, 4)); !ok || b != box(1, 2, 3, 4) {
		t.Error(b, ok)
	}
}

func FuzzFromWKT(f *testing.F) {
	f.Add(
		`PROJCS["x",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["` +
			`Degree",0.0174532925199433]],PROJECTION["Albers"],PARAMETER["Standard_Parallel_1",29.5],PARAMETER["Standard_Parallel_2",45.5` +
			`],UNIT["Meter",1.0]]`)
	f.Fuzz(func(t *testing.T, text string) {
		if b, ok := FromWKT(text).Degrees(geometry.Box{MinX: 1, MinY: 1, MaxX: 1e5, MaxY: 1e5}); ok &&
			!(b.MinX >= -180 && b.MaxX <= 180 && b.MinY >= -90 && b.MaxY <= 90) {
			t.Error(b)
		}
	})
}

func TestOrderOfAxes(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]bool{
		"EPSG:4326": false, "http://www.opengis.net/gml/srs/epsg.xml#4326": false, "urn:ogc:def:crs:EPSG::4326": true,
		"urn:x-ogc:def:crs:EPSG:4258":                true,
		"http://www.opengis.net/def/crs/EPSG/0/4326": true, "urn:ogc:def:crs:OGC:1.3:CRS84": false, "urn:ogc:def:crs:EPSG::25832": false,
		"urn:ogc:def:crs:EPSG::3035":  true,
		"urn:ogc:def:crs:EPSG::31287": true, "urn:ogc:def:crs:EPSG::3857": false, "urn:ogc:def:crs:EPSG:6.9:2036": true,
		"urn:ogc:def:crs:EPSG::2035":  false,
		"urn:ogc:def:crs:EPSG::31700": true, "urn:ogc:def:crs:EPSG::31701": false, "urn:ogc:def:crs:EPSG::0": false,
		"urn:ogc:def:crs:EPSG::": false, "": false,
		"urn:ogc:def:crs:IAU::49900": false, "urn:ogc:def:crs:EPSG::99999999999999999999": false,
	} {
		if got := NorthFirst(id); got != want {
			t.Errorf("%s: %v", id, got)
		}
	}
	last := 0
	for _, r := range northFirst() {
		if r[0] <= last || r[1] < r[0] {
			t.Errorf("%v follows %d", r, last)
		}
		last = r[1]
	}
}
