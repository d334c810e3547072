import assert from "node:assert/strict";
import test from "node:test";
import { boxOf, placesOf, sources, viewOf } from "./places.js";

const literal = (value) => ({ type: "literal", value: String(value) });
const result = (vars, ...rows) => ({ vars, rows: rows.map((row) => row.map((v) => (v === null ? undefined : literal(v)))) });

test("geometries and pairs of degrees are sources of places", () => {
  const r = result(["name", "lat", "long", "wkt"], ["a", 48, 16, "POLYGON((0 0, 1 0, 1 1, 0 0))"]);
  assert.deepEqual(sources(r).map((s) => s.name), ["wkt", "lat, long"]);
  assert.deepEqual(sources(result(["lat", "name"], [48, "a"])), []);
});

test("rows without a place, and those that cannot be drawn, are counted by why", () => {
  const r = result(["lat", "lon"], [48, 16], [null, 16], ["", ""], ["north", 16], [480, 16], [-33.9, 151.2]);
  const { places, none, unread, beyond } = placesOf(r, sources(r)[0]);
  assert.equal(places.length, 2);
  assert.equal(none, 2);
  assert.deepEqual([...unread], [["cannot be read", 1], ["do not lie on the Earth", 1]]);
  assert.equal(beyond, 0);
  assert.deepEqual(boxOf(places), [16, -33.9, 151.2, 48]);
});

test("at most two thousand places and three hundred thousand positions are drawn", () => {
  const many = result(["lat", "lon"], ...Array.from({ length: 5000 }, (_, i) => [i / 100, 16]));
  assert.equal(placesOf(many, sources(many)[0]).places.length, 2000);
  assert.equal(placesOf(many, sources(many)[0]).beyond, 3000);
  const long = "LINESTRING(" + "1 2,".repeat(90_000) + "1 2)";
  const big = result(["g"], ...Array.from({ length: 10 }, () => [long]));
  const drawn = placesOf(big, sources(big)[0]);
  assert.equal(drawn.places.length, 4);
  assert.equal(drawn.beyond, 6);
});

test("a view shows its whole box, and zooms around a pixel", () => {
  for (const [w, h] of [[900, 400], [320, 240]]) {
    const v = viewOf([9.5, 46.3, 17.2, 49.1], w, h);
    for (const [lon, lat] of [[9.5, 46.3], [17.2, 49.1]]) assert(v.x(lon) >= 0 && v.x(lon) <= w && v.y(lat) >= 0 && v.y(lat) <= h);
    const near = v.nearer(4, 30, 50);
    const lon = v.box[0] + 30 / v.squeeze / v.scale, lat = v.box[3] - 50 / v.scale;
    assert(Math.abs(near.x(lon) - 30) < 1e-6 && Math.abs(near.y(lat) - 50) < 1e-6);
    const back = v.moved(20, -10).moved(-20, 10);
    assert(Math.abs(back.x(12) - v.x(12)) < 1e-6);
  }
});

test("no zoom leaves the Earth or loses itself", () => {
  let v = viewOf([16, 48, 16, 48], 900, 400);
  for (let i = 0; i < 200; i++) v = v.nearer(0.5);
  assert(v.scale > 0 && v.box.every(Number.isFinite));
  for (let i = 0; i < 200; i++) v = v.nearer(2);
  assert(Number.isFinite(v.scale) && v.box[2] > v.box[0]);
  for (let i = 0; i < 50; i++) v = v.nearer(0.5).moved(5000, 5000);
  assert(v.box.every(Number.isFinite));
  assert(viewOf([-180, -90, 180, 90], 320, 240).box.every(Number.isFinite));
  assert(viewOf([-180, -90, -180, -90], 320, 240).box.every(Number.isFinite));
});
