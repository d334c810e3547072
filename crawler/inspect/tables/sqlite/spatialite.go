package sqlite

import (
	"context"
	"strconv"
	"strings"

	"odarchive/crawler/inspect/tables/crs"
)

// spatialLayers adds the layers of SpatiaLite, and of the databases that GDAL writes, to those of GeoPackage: both keep
// them in geometry_columns, and the reference systems in spatial_ref_sys (OGC 99-049).
func (db *base) spatialLayers(ctx context.Context, all []*table, layers map[string]*layer) {
	systems := map[int64]crs.System{}
	db.scan(ctx, all, "spatial_ref_sys", func(get func(string) value) {
		number, code := get("srid"), get("auth_srid")
		if text, err := strconv.ParseInt(db.decode(code.bytes), 10, 32); err == nil { // GDAL's column is one of texts
			code = value{kind: kindInteger, integer: text}
		}
		if number.kind != kindInteger || number.integer <= 0 || len(systems) >= maxLayers {
			return
		}
		var s crs.System
		if strings.EqualFold(db.decode(get("auth_name").bytes), "epsg") && code.kind == kindInteger && code.integer > 0 &&
			code.integer < 1<<20 {
			s = crs.FromEPSG(int(code.integer))
			if name := db.decode(get("ref_sys_name").bytes); name != "" && s.Known() {
				s.Name = name
			}
		}
		if !s.Known() {
			s = crs.FromWKT(db.decode(get("srtext").bytes))
		}
		systems[number.integer] = s
	})
	db.scan(ctx, all, "geometry_columns", func(get func(string) value) {
		name, column := strings.ToLower(db.decode(get("f_table_name").bytes)), db.decode(get("f_geometry_column").bytes)
		if column != "" && layers[name] == nil && len(layers) < maxLayers {
			layers[name] = &layer{column: column, system: systems[get("srid").integer]}
		}
	})
}

// draw draws a geometry in the form of GeoPackage, of SpatiaLite, or in WKB.
func (p *geometryPen) draw(b []byte) error {
	switch {
	case len(b) > 1 && b[0] == 'G' && b[1] == 'P':
		return p.geoPackage(b)
	case len(b) > 38 && b[0] == 0 && b[1] <= 1 && b[38] == 0x7c, len(b) > 7 && b[0] == 0 && b[1]&^1 == 0x80:
		return p.SpatiaLite(b)
	}
	return p.WKB(b)
}
