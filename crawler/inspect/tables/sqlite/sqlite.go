// Package sqlite reads the tables of SQLite databases, and the geometries of GeoPackage, SpatiaLite and GDAL in them.
//
// It reads the file format (https://www.sqlite.org/fileformat2.html) itself: the schema, b-trees of tables with and
// without row ids, and overflow pages, with one page of each level in memory. It needs no SQL, and nothing of a
// stranger's file is run. Views, virtual tables and the tables behind them are left out, and what is still in a journal
// or write-ahead log.
//
// No page of a sound file belongs to two rows or tables, and no byte of a page to two rows. So reading one table may
// visit as many pages as the file has, all of them a few times as many, and a damaged or hostile file cannot make it
// visit more, nor have more rows in a page than there is room for.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// Readers returns the readers of the family.
func Readers() source.Readers {
	return source.Readers{
		"application/vnd.sqlite3":        database,
		"application/x-sqlite3":          database,
		"application/geopackage+sqlite3": database,
		"application/vnd.mapbox.mbtiles": database,
	}
}

// database profiles the tables of a database, in the order of its schema.
func database(ctx context.Context, in source.Input, o source.Options) ([]*csvprofile.Profile, error) {
	db, err := open(in.Body, in.Size)
	if err != nil {
		return nil, err
	}
	list, damage := db.schema(ctx)
	if len(list) == 0 && damage != nil {
		return nil, damage
	}
	layers := db.layers(ctx, list)
	var found []*csvprofile.Profile
	var profiled []*table // those of found
	for _, t := range list {
		if len(found) >= o.MaxTables {
			break
		}
		if t.internal(list) {
			continue
		}
		p, err := db.table(ctx, t, layers[strings.ToLower(t.name)], o.Reading(len(found)))
		if err != nil {
			if o.Each != nil || ctx.Err() != nil {
				return found, err
			}
			damage = errors.Join(damage, err)
			continue
		}
		if source.Declared(p) {
			found, profiled = append(found, p), append(profiled, t)
		}
	}
	declareKeys(profiled, found)
	return found, damage
}

// table profiles one table. layer is what the database says of its geometries, nil if nothing.
func (db *base) table(ctx context.Context, t *table, layer *layer, o csvprofile.Options) (*csvprofile.Profile, error) {
	cursor, err := db.rows(t)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", t.name, err)
	}
	names := make([]string, len(t.columns))
	at := -1
	for i, c := range t.columns {
		names[i] = c.name
		if layer != nil && strings.EqualFold(c.name, layer.column) {
			at = i
		}
	}
	var sum source.Summary
	var pen geometryPen
	if at >= 0 {
		sum = source.Summary{System: layer.system, Column: names[at]}
	}
	cells := make([]string, len(names))
	next := func() ([]string, error) {
		row, err := cursor.next()
		if err != nil {
			return nil, err
		}
		for i, c := range t.columns {
			v := row.value(c)
			if i == at && v.kind == kindBlob {
				pen.Reset()
				if pen.draw(v.bytes) == nil {
					cells[i] = pen.Text()
					sum.Add(&pen.Pen)
					continue
				}
			}
			cells[i] = db.text(v, c)
		}
		return cells, nil
	}
	p, err := csvprofile.ReadRecords(ctx, t.name, names, next, o)
	if err != nil {
		return nil, err
	}
	if at >= 0 && o.Each == nil {
		sum.Apply(p)
	}
	if n := cursor.skipped; n > 0 {
		p.Note("%d rows of more than %d MiB are left out", n, maxRow>>20)
	}
	return p, nil
}

// internal reports whether a table is part of the database's own machinery rather than of its data.
func (t *table) internal(all []*table) bool {
	name := strings.ToLower(t.name)
	if t.virtual || strings.HasPrefix(name, "sqlite_") || strings.HasPrefix(name, "gpkg_") || slices.Contains(machinery, name) {
		return true
	}
	return slices.ContainsFunc(all, func(v *table) bool { // the tables behind a full-text or spatial index
		suffix, ok := strings.CutPrefix(name, strings.ToLower(v.name)+"_")
		return v.virtual && ok && slices.Contains(shadows, suffix)
	})
}

// machinery are tables that GeoPackage's programs and SpatiaLite keep for themselves.
var machinery = []string{"spatial_ref_sys", "spatial_ref_sys_aux", "spatialite_history", "geometry_columns", "geometry_columns_auth",
	"geometry_columns_statistics",
	"geometry_columns_field_infos", "geometry_columns_time", "views_geometry_columns", "views_geometry_columns_auth",
	"views_geometry_columns_statistics",
	"views_geometry_columns_field_infos", "virts_geometry_columns", "virts_geometry_columns_auth", "virts_geometry_columns_statistics",
	"virts_geometry_columns_field_infos", "sql_statements_log", "data_licenses", "layer_styles", "android_metadata", "knngeom",
	"elementarygeometries"}

// shadows are the last words of the names of tables behind virtual ones (FTS3 to FTS5, R-tree).
var shadows = []string{"content", "segments", "segdir", "docsize", "stat", "data", "idx", "config", "node", "parent", "rowid"}
