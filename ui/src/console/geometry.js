// Reads WKT and GeoJSON literals as points, lines and areas in degrees. A literal may come from anybody: its size, depth and
// number of positions are limited, and whatever cannot be drawn is an Unread that says why.

const longest = 4_000_000; // characters of a literal
const deepest = 16; // collections in collections
const mostPositions = 100_000; // of a literal

export class Unread extends Error {}

/** Reports whether a literal looks like a geometry. */
export function looksLikeGeometry(term) {
  if (term?.type !== "literal" && term?.type !== "typed-literal") return false;
  if (/#(wktLiteral|geoJSONLiteral|gmlLiteral|kmlLiteral)$/.test(term.datatype || "")) return true;
  const start = term.value.slice(0, 300);
  return wktStart.test(start) || /^\s*\{[^]*"(coordinates|geometry|geometries|features)"\s*:/.test(start);
}

const wktStart = /^\s*(<[^<>\s]*>\s*|SRID\s*=\s*\d+\s*;\s*)?(POINT|LINESTRING|POLYGON|TRIANGLE|TIN|POLYHEDRALSURFACE|MULTI(POINT|LINESTRING|POLYGON)|GEOMETRYCOLLECTION)\s*(Z|M|ZM)?\s*(\(|EMPTY)/i;

/** Gives {points, lines, areas, box: [west, south, east, north], size}; areas are lists of rings. */
export function readGeometry(term) {
  const text = term.value;
  const datatype = term.datatype || "";
  if (text.length > longest) throw new Unread("are too large");
  const shape = { points: [], lines: [], areas: [], box: [Infinity, Infinity, -Infinity, -Infinity], size: 0 };
  if (/#(gml|kml)Literal$/.test(datatype)) throw new Unread("are in GML or KML, which the map does not read");
  if (/#geoJSONLiteral$/.test(datatype) || /^\s*\{/.test(text)) readJSON(text, shape);
  else readWKT(text, shape);
  if (!shape.size) throw new Unread("are empty");
  return shape;
}

function place(shape, x, y) {
  if (!Number.isFinite(x) || !Number.isFinite(y)) throw new Unread("cannot be read");
  if (Math.abs(x) > 180 || Math.abs(y) > 90) throw new Unread("do not lie on the Earth");
  if (++shape.size > mostPositions) throw new Unread("are too large");
  const b = shape.box;
  b[0] = Math.min(b[0], x);
  b[1] = Math.min(b[1], y);
  b[2] = Math.max(b[2], x);
  b[3] = Math.max(b[3], y);
  return [x, y];
}

// Reference systems: what makes longitude and latitude of two numbers.

const asItIs = (x, y) => [x, y];
const latitudeFirst = (x, y) => [y, x];
const radius = 6378137; // metres, the major axis of WGS 84
const mercator = (x, y) => [((x / radius) * 180) / Math.PI, (Math.atan(Math.sinh(y / radius)) * 180) / Math.PI];

// The systems are those of the server's functions: CRS84, EPSG:4326 with the latitude first, EPSG:3857.
function systemOf(iri) {
  const name = iri.toLowerCase();
  if (/^(https?:\/\/www\.opengis\.net\/def\/crs\/ogc\/(1\.3|0)\/crs84|urn:ogc:def:crs:ogc:(1\.3)?:crs84)$/.test(name)) return asItIs;
  if (/^(https?:\/\/www\.opengis\.net\/def\/crs\/epsg\/[\d.]+\/4326|urn:ogc:def:crs:epsg:[\d.]*:4326|https?:\/\/www\.opengis\.net\/gml\/srs\/epsg\.xml#4326|epsg:4326)$/.test(name)) return latitudeFirst;
  if (/^(https?:\/\/www\.opengis\.net\/def\/crs\/epsg\/[\d.]+\/3857|urn:ogc:def:crs:epsg:[\d.]*:3857|epsg:3857)$/.test(name)) return mercator;
  throw new Unread(`are in the reference system ${iri.slice(0, 100)}, which the map does not know`);
}

// WKT

function readWKT(text, shape) {
  let system = asItIs;
  const named = /^\s*<([^<>\s]+)>/.exec(text);
  // In PostGIS' extension, the longitude comes first in EPSG:4326, too.
  const numbered = /^\s*SRID\s*=\s*(\d+)\s*;/i.exec(text);
  if (named) system = systemOf(named[1]);
  else if (numbered && numbered[1] !== "4326") system = systemOf("EPSG:" + numbered[1]);
  const from = (named || numbered || [""])[0].length;
  if (!text.slice(from).trim()) return; // the empty geometry (GeoSPARQL 1.1 §8.8.1)

  const token = /\s*([A-Za-z]+|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[(),])/y;
  token.lastIndex = from;
  let next = null;
  const advance = () => {
    const at = token.lastIndex;
    const m = token.exec(text);
    if (!m && text.slice(at, at + 1000).trim()) throw new Unread("cannot be read");
    next = m && m[1];
  };
  const isWord = () => next !== null && /^[A-Za-z]/.test(next);
  const take = (wanted) => {
    if (next !== wanted) throw new Unread("cannot be read");
    advance();
  };
  const empty = () => {
    if (!/^empty$/i.test(next || "")) return false;
    advance();
    return true;
  };
  const list = (one) => {
    const out = [];
    take("(");
    for (;;) {
      const item = one();
      if (item) out.push(item);
      if (next !== ",") break;
      advance();
    }
    take(")");
    return out;
  };
  const position = () => {
    const numbers = [];
    while (next !== null && /^[-+.\d]/.test(next)) {
      numbers.push(Number(next));
      advance();
    }
    if (numbers.length < 2 || numbers.length > 4) throw new Unread("cannot be read");
    return place(shape, ...system(numbers[0], numbers[1]));
  };
  const line = () => (empty() ? null : list(position));
  const rings = () => (empty() ? null : list(line));
  const point = () => {
    if (empty()) return null;
    if (next !== "(") return position(); // MULTIPOINT (1 2, 3 4)
    take("(");
    const p = position();
    take(")");
    return p;
  };
  const geometry = (depth) => {
    if (depth > deepest || !isWord()) throw new Unread("cannot be read");
    let name = next.toUpperCase();
    advance();
    if (/^(Z|M|ZM)$/i.test(next || "")) advance();
    else name = name.replace(/(Z|M|ZM)$/, "");
    if (empty()) return;
    switch (name) {
      case "POINT":
        if (next !== "(") throw new Unread("cannot be read");
        shape.points.push(point());
        break;
      case "LINESTRING":
        shape.lines.push(line());
        break;
      case "POLYGON":
      case "TRIANGLE":
        shape.areas.push(rings());
        break;
      case "MULTIPOINT":
        append(shape.points, list(point));
        break;
      case "MULTILINESTRING":
        append(shape.lines, list(line));
        break;
      case "MULTIPOLYGON":
      case "POLYHEDRALSURFACE":
      case "TIN":
        append(shape.areas, list(rings));
        break;
      case "GEOMETRYCOLLECTION":
        list(() => geometry(depth + 1));
        break;
      default:
        throw new Unread("cannot be read");
    }
  };
  advance();
  geometry(0);
  if (next !== null) throw new Unread("cannot be read");
}

// push(...list) would put a long list on the stack.
function append(to, list) {
  for (const item of list) to.push(item);
}

// GeoJSON: a geometry, or what contains some.

function readJSON(text, shape) {
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    throw new Unread("cannot be read");
  }
  const array = (v) => {
    if (!Array.isArray(v)) throw new Unread("cannot be read");
    return v;
  };
  const position = (v) => {
    const [x, y] = array(v);
    if (typeof x !== "number" || typeof y !== "number") throw new Unread("cannot be read");
    return place(shape, x, y);
  };
  const line = (v) => array(v).map(position);
  const rings = (v) => array(v).map(line);
  const geometry = (g, depth) => {
    if (g === null) return; // of a feature without a place
    if (depth > deepest || typeof g !== "object") throw new Unread("cannot be read");
    const c = g.coordinates;
    if (Array.isArray(c) && !c.length) return;
    switch (g.type) {
      case "Point":
        return shape.points.push(position(c));
      case "MultiPoint":
        return append(shape.points, line(c));
      case "LineString":
        return shape.lines.push(line(c));
      case "MultiLineString":
        return append(shape.lines, rings(c));
      case "Polygon":
        return shape.areas.push(rings(c));
      case "MultiPolygon":
        return append(shape.areas, array(c).map(rings));
      case "GeometryCollection":
        return array(g.geometries).forEach((each) => geometry(each, depth + 1));
      case "Feature":
        return geometry(g.geometry ?? null, depth + 1);
      case "FeatureCollection":
        return array(g.features).forEach((each) => geometry(each, depth + 1));
    }
    throw new Unread("cannot be read");
  };
  geometry(json, 0);
}
