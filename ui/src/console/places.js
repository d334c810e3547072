// The places that a result names: pairs of columns of degrees, and columns of geometries. What is drawn is scale.

import { looksLikeGeometry, readGeometry, Unread } from "./geometry.js";

const looked = 200; // rows looked at to find places
const mostPlaces = 2000;
const mostPositions = 300_000; // of all places together

const latitude = /^(geo_?|wgs84_?)?(lat|latitude|breite|breitengrad|y)$/i;
const longitude = /^(geo_?|wgs84_?)?(lon|long|lng|longitude|laenge|längengrad|laengengrad|x)$/i;

/** Gives the sources of places of a result, as {name, read}; read(row) gives a shape, null for none, or throws an Unread. */
export function sources({ vars, rows }) {
  const found = [];
  const first = rows.slice(0, looked);
  vars.forEach((name, i) => {
    if (first.some((row) => looksLikeGeometry(row[i]))) found.push({ name, read: (row) => (looksLikeGeometry(row[i]) ? readGeometry(row[i]) : null) });
  });
  const lat = vars.findIndex((v) => latitude.test(v));
  const lon = vars.findIndex((v) => longitude.test(v));
  if (lat >= 0 && lon >= 0) found.push({ name: vars[lat] + ", " + vars[lon], read: (row) => degrees(row[lat], row[lon]) });
  return found;
}

function degrees(lat, lon) {
  if (!lat?.value.trim?.() || !lon?.value.trim?.()) return null;
  const x = Number(lon.value);
  const y = Number(lat.value);
  if (!Number.isFinite(x) || !Number.isFinite(y)) throw new Unread("cannot be read");
  if (Math.abs(x) > 180 || Math.abs(y) > 90) throw new Unread("do not lie on the Earth");
  return { points: [[x, y]], lines: [], areas: [], box: [x, y, x, y], size: 1 };
}

/** Gives {places: [{row, shape}], none, unread, beyond}: rows without a place, a Map from why to rows, rows not looked at. */
export function placesOf({ rows }, source) {
  const places = [];
  const unread = new Map();
  let none = 0;
  let positions = 0;
  for (let i = 0; i < rows.length; i++) {
    if (places.length >= mostPlaces || positions >= mostPositions) return { places, none, unread, beyond: rows.length - i };
    try {
      const shape = source.read(rows[i]);
      if (shape) {
        places.push({ row: rows[i], shape });
        positions += shape.size;
      } else none++;
    } catch (error) {
      if (!(error instanceof Unread)) throw error;
      unread.set(error.message, (unread.get(error.message) || 0) + 1);
    }
  }
  return { places, none, unread, beyond: 0 };
}

/** The box around places, [west, south, east, north]. */
export function boxOf(places) {
  const box = [180, 90, -180, -90];
  for (const { shape: { box: b } } of places) {
    box[0] = Math.min(box[0], b[0]);
    box[1] = Math.min(box[1], b[1]);
    box[2] = Math.max(box[2], b[2]);
    box[3] = Math.max(box[3], b[3]);
  }
  return box;
}

/**
 * A view of the Earth on an area of pixels: longitudes are squeezed so that distances agree in the middle of the box. Its
 * methods give other views.
 */
export function viewOf(box, width, height) {
  const middle = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
  const squeeze = Math.max(Math.cos((middle[1] * Math.PI) / 180), 0.2);
  const margin = 1.15;
  const least = 0.02; // degrees around a single point
  const scale = Math.min(width / (Math.max(box[2] - box[0], least) * squeeze * margin), height / (Math.max(box[3] - box[1], least) * margin));
  return view(middle, scale, squeeze, width, height);
}

const nearest = 200_000; // pixels per degree: half a metre a pixel

function view([lon, lat], wanted, squeeze, width, height) {
  const farthest = Math.min(width / (360 * squeeze), height / 180);
  const scale = Math.max(Math.min(wanted, nearest), farthest);
  lon = Math.max(-180, Math.min(180, lon));
  lat = Math.max(-90, Math.min(90, lat));
  const x = (l) => width / 2 + (l - lon) * squeeze * scale;
  const y = (l) => height / 2 - (l - lat) * scale;
  return {
    x, y, width, height, scale, squeeze,
    /** The part of the Earth that is seen. */
    box: [lon - width / 2 / squeeze / scale, lat - height / 2 / scale, lon + width / 2 / squeeze / scale, lat + height / 2 / scale],
    /** Moved by pixels. */
    moved: (dx, dy) => view([lon - dx / squeeze / scale, lat + dy / scale], scale, squeeze, width, height),
    /** Nearer by a factor, while the position at a pixel stays where it is. */
    nearer(factor, px = width / 2, py = height / 2) {
      const at = [lon + (px - width / 2) / squeeze / scale, lat - (py - height / 2) / scale];
      const next = view([lon, lat], scale * factor, squeeze, width, height);
      return view([at[0] - (px - width / 2) / squeeze / next.scale, at[1] + (py - height / 2) / next.scale], next.scale, squeeze, width, height);
    },
    resized: (w, h) => view([lon, lat], (scale * w) / width, squeeze, w, h),
    at: (l, b) => view([l, b], scale, squeeze, width, height),
  };
}
