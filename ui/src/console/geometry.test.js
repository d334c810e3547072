import assert from "node:assert/strict";
import test from "node:test";
import { looksLikeGeometry, readGeometry, Unread } from "./geometry.js";

const geo = "http://www.opengis.net/ont/geosparql#";
const wkt = (value) => ({ type: "literal", datatype: geo + "wktLiteral", value });
const json = (value) => ({ type: "literal", datatype: geo + "geoJSONLiteral", value: typeof value === "string" ? value : JSON.stringify(value) });
const drawn = (term) => {
  const { points, lines, areas } = readGeometry(term);
  return JSON.stringify([points, lines, areas]);
};
const refused = (term) => {
  try {
    return readGeometry(term);
  } catch (error) {
    assert(error instanceof Unread, String(error));
    return error.message;
  }
};

test("every kind of WKT is read", () => {
  for (const [text, want] of [
    ["POINT(16 48)", "[[[16,48]],[],[]]"],
    ["  point z ( 16.5 -48e-1 200 ) ", "[[[16.5,-4.8]],[],[]]"],
    ["POINTZM(1 2 3 4)", "[[[1,2]],[],[]]"],
    ["LINESTRING M (1 2 9, 3 4 9)", "[[],[[[1,2],[3,4]]],[]]"],
    ["POLYGON((0 0, 4 0, 4 4, 0 0), (1 1, 2 1, 2 2, 1 1))", "[[],[],[[[[0,0],[4,0],[4,4],[0,0]],[[1,1],[2,1],[2,2],[1,1]]]]]"],
    ["MULTIPOINT(1 2, 3 4)", "[[[1,2],[3,4]],[],[]]"],
    ["MULTIPOINT((1 2), EMPTY, (3 4))", "[[[1,2],[3,4]],[],[]]"],
    ["MULTILINESTRING((1 2, 3 4), EMPTY)", "[[],[[[1,2],[3,4]]],[]]"],
    ["MULTIPOLYGON(((0 0, 1 0, 1 1, 0 0)), ((5 5, 6 5, 6 6, 5 5)))", "[[],[],[[[[0,0],[1,0],[1,1],[0,0]]],[[[5,5],[6,5],[6,6],[5,5]]]]]"],
    ["GEOMETRYCOLLECTION(POINT(1 2), GEOMETRYCOLLECTION(LINESTRING(1 2, 3 4)), POLYGON EMPTY)", "[[[1,2]],[[[1,2],[3,4]]],[]]"],
    ["TIN(((0 0, 1 0, 1 1, 0 0)))", "[[],[],[[[[0,0],[1,0],[1,1],[0,0]]]]]"],
  ]) assert.equal(drawn(wkt(text)), want, text);
});

test("the order of coordinates follows the reference system", () => {
  assert.equal(drawn(wkt("<http://www.opengis.net/def/crs/OGC/1.3/CRS84> POINT(16 48)")), "[[[16,48]],[],[]]");
  assert.equal(drawn(wkt("<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(48 16)")), "[[[16,48]],[],[]]");
  assert.equal(drawn(wkt("SRID=4326;POINT(16 48)")), "[[[16,48]],[],[]]"); // as PostGIS writes it
  const [[x, y]] = readGeometry(wkt("<http://www.opengis.net/def/crs/EPSG/0/3857> POINT(1821892.5 6141587.5)")).points;
  assert(Math.abs(x - 16.3664) < 1e-3 && Math.abs(y - 48.2084) < 1e-3, `${x} ${y}`);
  assert.match(refused(wkt("<http://www.opengis.net/def/crs/EPSG/0/31256> POINT(2000 340000)")), /reference system .*31256/);
  assert.match(refused(wkt("SRID=31256;POINT(2000 340000)")), /reference system EPSG:31256/);
});

test("GeoJSON is read with features around it", () => {
  assert.equal(drawn(json({ type: "Point", coordinates: [16, 48, 170] })), "[[[16,48]],[],[]]");
  assert.equal(drawn(json({ type: "MultiPolygon", coordinates: [[[[0, 0], [1, 0], [1, 1], [0, 0]]]] })), "[[],[],[[[[0,0],[1,0],[1,1],[0,0]]]]]");
  assert.equal(drawn({ type: "literal", value: '{"type":"FeatureCollection","features":[{"type":"Feature","geometry":null},{"type":"Feature","geometry":{"type":"GeometryCollection","geometries":[{"type":"LineString","coordinates":[[1,2],[3,4]]}]}}]}' }), "[[],[[[1,2],[3,4]]],[]]");
});

test("what cannot be drawn says why, and never breaks", () => {
  for (const text of ["POINT(1)", "POINT(1 2, 3 4)", "POINT(1 2", "POINT(1 2) x", "POINT(a b)", "CIRCULARSTRING(0 0, 1 1, 2 0)", "POLYGON(0 0, 1 1)", "POINT(1 2 3 4 5)", "POINT(1e999 0)", "LINESTRING(1 2,)", "point", "<http://x>", "(".repeat(100_000), "GEOMETRYCOLLECTION(".repeat(50_000), "MULTI", "POINT(1 2)\u0000", "POINT(NaN 2)"])
    assert.match(refused(wkt(text)), /read|reference system|Earth/, text.slice(0, 40));
  for (const value of ['{"type":"Point"}', '{"type":"Point","coordinates":["1",2]}', '{"type":"Polygon","coordinates":[[1,2]]}', "{", '{"type":"GeometryCollection","geometries":{}}', "[]", "null", '{"type":"constructor"}', '{"type":"GeometryCollection","geometries":['.repeat(40) + "]}".repeat(40)])
    assert.match(refused(json(value)), /read|empty/, value.slice(0, 60));
  assert.match(refused(wkt("POINT EMPTY")), /empty/);
  assert.match(refused(wkt("")), /empty/);
  assert.match(refused(wkt("POINT(48 216)")), /Earth/);
  assert.match(refused(wkt("LINESTRING(" + "1 2,".repeat(200_000) + "1 2)")), /too large/);
  assert.match(refused({ type: "literal", datatype: geo + "gmlLiteral", value: "<gml:Point/>" }), /GML/);
});

test("a literal of a hundred thousand positions is read", () => {
  assert.equal(readGeometry(wkt("MULTIPOINT(" + "1 2,".repeat(99_999) + "1 2)")).points.length, 100_000);
});

test("text that only resembles a geometry is none", () => {
  for (const [value, want] of [["POINT(1 2)", true], ["SRID=4326;MULTIPOINT EMPTY", true], ["<http://x> polygon ((", true], ['{"type":"Point","coordinates":[1,2]}', true], ["Point of interest", false], ["POINTLESS (1)", false], ['{"a":1}', false], ["", false]])
    assert.equal(looksLikeGeometry({ type: "literal", value }), want, value);
  assert.equal(looksLikeGeometry({ type: "uri", value: "POINT(1 2)" }), false);
  assert.equal(looksLikeGeometry(undefined), false);
});
