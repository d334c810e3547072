package sqlite

import (
	"context"
	"errors"
	"io"
	"strings"

	"odarchive/crawler/inspect/tables/crs"
	"odarchive/crawler/inspect/tables/source"
)

// layer is what a GeoPackage says of a table's geometries.
type layer struct {
	column string
	system crs.System
}

// maxLayers bounds the rows that are read of GeoPackage's own tables.
const maxLayers = 20_000

// layers returns the layers of a GeoPackage (OGC 12-128r19, 2.1) or SpatiaLite by the names of their tables, in lower
// case. It is empty for other databases.
func (db *base) layers(ctx context.Context, all []*table) map[string]*layer {
	systems := map[int64]crs.System{0: {}, -1: {}} // by number; these two are undefined
	db.scan(ctx, all, "gpkg_spatial_ref_sys", func(get func(string) value) {
		number, org, code, text := get("srs_id"), get("organization"), get("organization_coordsys_id"), get("definition")
		if number.kind != kindInteger || number.integer <= 0 {
			return
		}
		s := crs.FromWKT(db.decode(text.bytes))
		if strings.EqualFold(db.decode(org.bytes), "EPSG") && code.kind == kindInteger && code.integer > 0 && code.integer < 1<<20 {
			if by := crs.FromEPSG(int(code.integer)); by.Known() {
				if s.Name == "" {
					s.Name = by.Name
				}
				by.Name = s.Name
				s = by
			}
		}
		if !s.Known() {
			s = crs.Named(db.decode(get("srs_name").bytes))
		}
		systems[number.integer] = s
	})
	layers := map[string]*layer{}
	db.scan(ctx, all, "gpkg_geometry_columns", func(get func(string) value) {
		name := strings.ToLower(db.decode(get("table_name").bytes))
		layers[name] = &layer{column: db.decode(get("column_name").bytes), system: systems[get("srs_id").integer]}
	})
	db.spatialLayers(ctx, all, layers)
	return layers
}

// scan calls f with the rows of a table of the database's machinery. Damage ends it.
func (db *base) scan(ctx context.Context, all []*table, name string, f func(get func(column string) value)) {
	for _, t := range all {
		if t.virtual || !strings.EqualFold(t.name, name) {
			continue
		}
		cursor, err := db.rows(t)
		for n := 0; err == nil && n < maxLayers && ctx.Err() == nil; n++ {
			var row *row
			if row, err = cursor.next(); err == nil {
				f(func(column string) value {
					for _, c := range t.columns {
						if strings.EqualFold(c.name, column) {
							return row.value(c)
						}
					}
					return value{}
				})
			}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return
		}
	}
}

// geometryPen draws the geometries of GeoPackage.
type geometryPen struct{ source.Pen }

// geoPackage draws a geometry as GeoPackage stores it: a header, and WKB (OGC 12-128r19, 2.1.3).
func (p *geometryPen) geoPackage(b []byte) error {
	if len(b) < 8 || b[0] != 'G' || b[1] != 'P' {
		return source.ErrWKB
	}
	flags := b[3]
	envelope := int(flags >> 1 & 7)
	if envelope > 4 || flags&0x20 != 0 { // an extended type is of one program
		return source.ErrWKB
	}
	size := 8 + [5]int{0, 32, 48, 48, 64}[envelope]
	if len(b) < size {
		return source.ErrWKB
	}
	return p.WKB(b[size:])
}
