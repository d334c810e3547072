package crs

import "math"

// ellipsoid is the figure of the Earth in a datum: its major axis, in metres, and its flattening.
type ellipsoid struct{ a, f float64 }

// params are the parameters of a projection: angles in degrees, lengths in metres.
type params struct {
	lat0, lon0, lat1, lat2 float64
	scale                  float64
	east, north            float64 // added to what the projection yields
}

// inverse converts coordinates of a projection to degrees. ok is false outside the area in which it is accurate.
type inverse = func(x, y float64) (lon, lat float64, ok bool)

const toDegrees, toRadians = 180 / math.Pi, math.Pi / 180

// farAway is how far a point may be from the centre of a projection, in metres.
const farAway = 9e6

// degrees is the conversion of geographic systems.
func degrees(x, y float64) (lon, lat float64, ok bool) {
	return x, y, math.Abs(x) <= 180 && math.Abs(y) <= 90
}

// webMercator is EPSG:3857: Mercator of a sphere, with latitudes of the ellipsoid.
func webMercator(x, y float64) (lon, lat float64, ok bool) {
	const r = 6378137.0
	lon, lat = x/r*toDegrees, math.Atan(math.Sinh(y/r))*toDegrees
	if math.Abs(lon) > 180 && math.Abs(lon) < 180+1e-6 { // the edge of the world, rounded
		lon = math.Copysign(180, lon)
	}
	return lon, lat, math.Abs(lon) <= 180
}

func (e ellipsoid) ecc() float64 { return math.Sqrt(e.f * (2 - e.f)) }

// latitude returns the latitude of an isometric latitude, in radians.
func (e ellipsoid) latitude(psi float64) float64 {
	ecc := e.ecc()
	phi := math.Atan(math.Sinh(psi))
	for range 12 {
		next := math.Atan(math.Sinh(psi + ecc*math.Atanh(ecc*math.Sin(phi))))
		if math.Abs(next-phi) < 1e-14 {
			return next
		}
		phi = next
	}
	return phi
}

// isometric returns the isometric latitude of a latitude, in radians.
func (e ellipsoid) isometric(phi float64) float64 {
	ecc := e.ecc()
	return math.Asinh(math.Tan(phi)) - ecc*math.Atanh(ecc*math.Sin(phi))
}

// transverseMercator is the projection of UTM, by Krüger's series to the third power of the third flattening, as in
// IOGP guidance note 7-2. It is accurate to less than a millimetre within 1000 km of the central meridian.
func (e ellipsoid) transverseMercator(p params) inverse {
	n := e.f / (2 - e.f)
	n2, n3 := n*n, n*n*n
	radius := p.scale * e.a / (1 + n) * (1 + n2/4 + n2*n2/64)
	alpha := [3]float64{n/2 - 2*n2/3 + 5*n3/16, 13*n2/48 - 3*n3/5, 61 * n3 / 240}
	beta := [3]float64{n/2 - 2*n2/3 + 37*n3/96, n2/48 + n3/15, 17 * n3 / 480}
	chi := math.Atan(math.Sinh(e.isometric(p.lat0 * toRadians)))
	origin := chi
	for j, a := range alpha {
		origin += a * math.Sin(2*float64(j+1)*chi)
	}
	return func(x, y float64) (float64, float64, bool) {
		x, y = x-p.east, y-p.north
		if !(math.Abs(x) <= 1.5e6) || !(math.Abs(y) <= 1.1e7) {
			return 0, 0, false
		}
		xi, eta := y/radius+origin, x/radius
		xi1, eta1 := xi, eta
		for j, b := range beta {
			k := 2 * float64(j+1)
			xi1 -= b * math.Sin(k*xi) * math.Cosh(k*eta)
			eta1 -= b * math.Cos(k*xi) * math.Sinh(k*eta)
		}
		if math.Abs(xi1) >= math.Pi/2 {
			return 0, 0, false // beyond a pole
		}
		chi := math.Asin(math.Sin(xi1) / math.Cosh(eta1))
		lat := e.latitude(math.Asinh(math.Tan(chi)))
		lon := math.Atan2(math.Sinh(eta1), math.Cos(xi1))
		return p.lon0 + lon*toDegrees, lat * toDegrees, true
	}
}

// mercator is Mercator's projection on the ellipsoid, with a scale at the equator or a parallel of true scale (lat1).
func (e ellipsoid) mercator(p params) inverse {
	k := p.scale
	if p.lat1 != 0 {
		k = e.parallel(p.lat1 * toRadians)
	}
	return func(x, y float64) (float64, float64, bool) {
		x, y = (x-p.east)/(e.a*k), (y-p.north)/(e.a*k)
		return p.lon0 + x*toDegrees, e.latitude(y) * toDegrees, math.Abs(y) < 10
	}
}

// parallel returns the radius of a parallel divided by the major axis.
func (e ellipsoid) parallel(phi float64) float64 {
	s := e.ecc() * math.Sin(phi)
	return math.Cos(phi) / math.Sqrt(1-s*s)
}

// conformalConic is Lambert's conformal projection with one standard parallel (lat1 = lat2) or two.
func (e ellipsoid) conformalConic(p params) inverse {
	phi1, phi2 := p.lat1*toRadians, p.lat2*toRadians
	psi1, m1 := e.isometric(phi1), e.parallel(phi1)
	n := math.Sin(phi1)
	if math.Abs(phi1-phi2) > 1e-10 {
		n = (math.Log(m1) - math.Log(e.parallel(phi2))) / (e.isometric(phi2) - psi1)
	}
	if math.IsNaN(n) || math.Abs(n) < 1e-6 {
		return nil
	}
	f := p.scale * e.a * m1 / n * math.Exp(n*psi1)
	r0 := f * math.Exp(-n*e.isometric(p.lat0*toRadians))
	return func(x, y float64) (float64, float64, bool) {
		x, y = x-p.east, r0-(y-p.north)
		if !(math.Abs(x) <= farAway) || !(math.Abs(r0-y) <= farAway) {
			return 0, 0, false
		}
		sign := math.Copysign(1, n)
		r := math.Hypot(x, y)
		theta := math.Atan2(sign*x, sign*y)
		return p.lon0 + theta/n*toDegrees, e.latitude(-math.Log(r/math.Abs(f))/n) * toDegrees, r > 0
	}
}

// authalic returns Snyder's q, twice the area between the equator and a parallel per radian of longitude, divided by
// the square of the major axis.
func (e ellipsoid) authalic(phi float64) float64 {
	ecc, s := e.ecc(), math.Sin(phi)
	return (1 - ecc*ecc) * (s/(1-ecc*ecc*s*s) + math.Atanh(ecc*s)/ecc)
}

// fromAuthalic returns the latitude of an authalic latitude (the series of IOGP guidance note 7-2, method 9820).
func (e ellipsoid) fromAuthalic(beta float64) float64 {
	e2 := e.f * (2 - e.f)
	e4, e6 := e2*e2, e2*e2*e2
	return beta + (e2/3+31*e4/180+517*e6/5040)*math.Sin(2*beta) + (23*e4/360+251*e6/3780)*math.Sin(4*beta) + 761*e6/45360*math.Sin(6*beta)
}

// equalAreaConic is Albers' projection.
func (e ellipsoid) equalAreaConic(p params) inverse {
	phi1, phi2 := p.lat1*toRadians, p.lat2*toRadians
	m1, m2 := e.parallel(phi1), e.parallel(phi2)
	q0, q1, q2 := e.authalic(p.lat0*toRadians), e.authalic(phi1), e.authalic(phi2)
	n := math.Sin(phi1)
	if math.Abs(phi1-phi2) > 1e-10 {
		n = (m1*m1 - m2*m2) / (q2 - q1)
	}
	if math.IsNaN(n) || math.Abs(n) < 1e-6 {
		return nil
	}
	c := m1*m1 + n*q1
	r0, pole := e.a*math.Sqrt(c-n*q0)/n, e.authalic(math.Pi/2)
	return func(x, y float64) (float64, float64, bool) {
		x, y = x-p.east, r0-(y-p.north)
		sign := math.Copysign(1, n)
		r, theta := math.Hypot(x, y), math.Atan2(sign*x, sign*y)
		q := (c - r*r*n*n/(e.a*e.a)) / n
		if !(math.Abs(q) <= pole) || !(math.Abs(x) <= farAway) {
			return 0, 0, false
		}
		return p.lon0 + theta/n*toDegrees, e.fromAuthalic(math.Asin(q/pole)) * toDegrees, true
	}
}

// azimuthalEqualArea is Lambert's azimuthal projection; not that of the poles.
func (e ellipsoid) azimuthalEqualArea(p params) inverse {
	phi0 := p.lat0 * toRadians
	if math.Abs(p.lat0) > 89 {
		return nil
	}
	pole := e.authalic(math.Pi / 2)
	beta0 := math.Asin(e.authalic(phi0) / pole)
	radius := e.a * math.Sqrt(pole/2)
	d := e.a * e.parallel(phi0) / (radius * math.Cos(beta0))
	sin0, cos0 := math.Sincos(beta0)
	return func(x, y float64) (float64, float64, bool) {
		x, y = (x-p.east)/d, (y-p.north)*d
		rho := math.Hypot(x, y)
		if !(rho <= farAway) {
			return 0, 0, false
		}
		if rho == 0 {
			return p.lon0, p.lat0, true
		}
		sin, cos := math.Sincos(2 * math.Asin(rho/(2*radius)))
		beta := math.Asin(cos*sin0 + y*sin*cos0/rho)
		lon := math.Atan2(x*sin, rho*cos0*cos-y*sin0*sin)
		return p.lon0 + lon*toDegrees, e.fromAuthalic(beta) * toDegrees, true
	}
}
