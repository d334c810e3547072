package crs

// The ellipsoids of the datums that agree with WGS 84. Their flattenings differ in the eleventh digit.
var (
	wgs84 = ellipsoid{6378137, 1 / 298.257223563}
	grs80 = ellipsoid{6378137, 1 / 298.257222101}
)

// inverseOf returns the conversion of a system by its EPSG code, nil if the package has none.
func inverseOf(code int) func(x, y float64) (lon, lat float64, ok bool) {
	utm := func(e ellipsoid, zone int, south bool) func(x, y float64) (float64, float64, bool) {
		p := params{lon0: float64(zone)*6 - 183, scale: 0.9996, east: 500_000}
		if south {
			p.north = 10_000_000
		}
		return e.transverseMercator(p)
	}
	tm := func(lat0, lon0, scale, east, north float64) func(x, y float64) (float64, float64, bool) {
		return grs80.transverseMercator(params{lat0: lat0, lon0: lon0, scale: scale, east: east, north: north})
	}
	switch {
	case code > 32600 && code <= 32660:
		return utm(wgs84, code-32600, false)
	case code > 32700 && code <= 32760:
		return utm(wgs84, code-32700, true)
	case code >= 25828 && code <= 25838:
		return utm(grs80, code-25800, false)
	case code >= 26901 && code <= 26923:
		return utm(grs80, code-26900, false)
	case code >= 28348 && code <= 28358:
		return utm(grs80, code-28300, true)
	case code >= 7848 && code <= 7858: // GDA2020
		return utm(grs80, code-7800, true)
	case code >= 31965 && code <= 31976: // SIRGAS 2000
		return utm(grs80, code-31965+11, false)
	case code >= 31977 && code <= 31985:
		return utm(grs80, code-31977+17, true)
	}
	switch code {
	case 4326, 4979, 4258, 4937, 4269, 4283, 7844, 4167, 4674, 6668, 4612, 4490, 4171, 4617, 4619, 4661, 4669, 4180, 4765, 4761, 4759, 6318,
		4152:
		return degrees
	case 3857:
		return webMercator
	case 3395: // the World Mercator, on the ellipsoid
		return wgs84.mercator(params{scale: 1})
	case 3035:
		return grs80.azimuthalEqualArea(params{lat0: 52, lon0: 10, east: 4_321_000, north: 3_210_000})
	case 3034:
		return grs80.conformalConic(params{lat0: 52, lon0: 10, lat1: 35, lat2: 65, scale: 1, east: 4_000_000, north: 2_800_000})
	case 2154: // France
		return grs80.conformalConic(params{lat0: 46.5, lon0: 3, lat1: 49, lat2: 44, scale: 1, east: 700_000, north: 6_600_000})
	case 3812: // Belgium
		return grs80.conformalConic(params{lat0: 50.797815, lon0: 4 + 21.0/60 + 33.177/3600, lat1: 49 + 50.0/60, lat2: 51 + 10.0/60,
			scale: 1, east: 649_328, north: 665_262})
	case 3301: // Estonia
		return grs80.conformalConic(params{lat0: 57 + 31.0/60 + 3.19415/3600, lon0: 24, lat1: 59 + 20.0/60, lat2: 58, scale: 1,
			east: 500_000, north: 6_375_000})
	case 3347: // Canada
		return grs80.conformalConic(params{lat0: 63.390675, lon0: -(91 + 52.0/60), lat1: 49, lat2: 77, scale: 1, east: 6_200_000,
			north: 3_000_000})
	case 3978:
		return grs80.conformalConic(params{lat0: 49, lon0: -95, lat1: 49, lat2: 77, scale: 1})
	case 5070: // the United States
		return grs80.equalAreaConic(params{lat0: 23, lon0: -96, lat1: 29.5, lat2: 45.5})
	case 3577: // Australia
		return grs80.equalAreaConic(params{lat0: 0, lon0: 132, lat1: -18, lat2: -36})
	case 3006: // Sweden
		return tm(0, 15, 0.9996, 500_000, 0)
	case 3067: // Finland
		return tm(0, 27, 0.9996, 500_000, 0)
	case 3346: // Lithuania
		return tm(0, 24, 0.9998, 500_000, 0)
	case 3059: // Latvia
		return tm(0, 24, 0.9996, 500_000, -6_000_000)
	case 3765: // Croatia
		return tm(0, 16.5, 0.9999, 500_000, 0)
	case 3794: // Slovenia
		return tm(0, 15, 0.9999, 500_000, -5_000_000)
	case 2180: // Poland
		return tm(0, 19, 0.9993, 500_000, -5_300_000)
	case 2157: // Ireland
		return tm(53.5, -8, 0.99982, 600_000, 750_000)
	case 2193: // New Zealand
		return tm(0, 173, 0.9996, 1_600_000, 10_000_000)
	case 3763: // Portugal
		return tm(39+40.0/60+5.73/3600, -(8 + 7.0/60 + 59.19/3600), 1, 0, 0)
	case 4647: // UTM zone 32 with the zone before the easting
		return tm(0, 9, 0.9996, 32_500_000, 0)
	case 3044:
		return utm(grs80, 32, false)
	case 3045:
		return utm(grs80, 33, false)
	}
	return nil
}
