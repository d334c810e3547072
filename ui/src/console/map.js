// Places of a result over the outline of the world, which this server sends: no tiles, because nothing is fetched from
// elsewhere. Every place can be reached with the keyboard and is read out, row by row.

import { el, svg } from "../lib/dom.js";
import { count } from "../lib/format.js";
import { boxOf, placesOf, sources, viewOf } from "./places.js";
import { address, text } from "./terms.js";
import { pick } from "./views.js";

export const canMap = (result) => sources(result).length > 0;

/** world is the address of the outline: the whole Earth, a degree of longitude as wide as one of latitude is high. */
export function map(result, { base, world }) {
  const choices = sources(result);
  let source = 0;
  const node = el("div.chart.map");
  const draw = () => {
    const drawn = placesOf(result, choices[source]);
    const names = choices.map((c) => c.name);
    const choose = choices.length > 1 ? pick("Places from", names, names.map((_, i) => i), source, (i) => ((source = i), draw())) : "";
    const notes = notesOn(result, drawn).map((note) => el("p.quiet", {}, note));
    if (!drawn.places.length) node.replaceChildren(el("div.toolbar", {}, choose), el("p.quiet", {}, "No row has a place that can be drawn."), ...notes);
    else node.replaceChildren(...mapOf(result, drawn.places, choose, { base, world }), ...notes);
  };
  draw();
  return node;
}

const rowsOf = (n) => (n === 1 ? "1 row" : count(n) + " rows");

// What is not on the map, so that nobody takes a part for the whole.
function notesOn(result, { places, none, unread, beyond }) {
  const notes = [];
  if (beyond) notes.push(`The map has the first ${rowsOf(places.length)} with a place; ${rowsOf(beyond)} of the answer are not looked at.`);
  else if (places.length < result.rows.length) notes.push(`${count(places.length)} of ${rowsOf(result.rows.length)} are on the map.`);
  if (none) notes.push(`Rows without a place: ${count(none)}.`);
  for (const [why, n] of [...unread].slice(0, 5)) notes.push(`The places of ${rowsOf(n)} ${why}.`);
  return notes.length ? [notes.join(" ")] : [];
}

function mapOf(result, places, choose, { base, world }) {
  const drawing = svg("svg", { role: "img", "aria-label": `${count(places.length)} places on a map of the world` });
  const where = el("span.quiet", { role: "status" });
  const place = el("div.place", { role: "status" });
  const frame = el("div.map-frame", {
    tabindex: "0", role: "group", onkeydown: key,
    "aria-label": "Map. Arrow keys move it, plus and minus zoom, 0 shows all places, N and P go to the next place and the one before.",
  }, drawing);
  const order = places.map((_, i) => i).sort((a, b) => area(places[b].shape.box) - area(places[a].shape.box)); // small ones on top
  let view = null;
  let chosen = -1;
  let waits = false;

  function look(next) {
    view = next;
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      paint(drawing, view, places, order, chosen, world);
      where.textContent = extent(view.box);
    });
  }
  function choosePlace(i) {
    chosen = (i + places.length) % places.length;
    const { row, shape } = places[chosen];
    const middle = [(shape.box[0] + shape.box[2]) / 2, (shape.box[1] + shape.box[3]) / 2];
    const [x, y] = [view.x(middle[0]), view.y(middle[1])];
    look(x < 0 || y < 0 || x > view.width || y > view.height ? view.at(...middle) : view);
    place.replaceChildren(
      el("p", {}, el("strong", {}, `Place ${count(chosen + 1)} of ${count(places.length)}`)),
      el("dl", {}, ...result.vars.flatMap((name, c) => (row[c] ? [el("dt", {}, name), el("dd", {}, shown(row[c], base))] : []))),
    );
  }
  const whole = () => look(viewOf(boxOf(places), view.width, view.height));
  const step = () => Math.min(view.width, view.height) / 4;
  const acts = {
    "+": () => look(view.nearer(2)), "=": () => look(view.nearer(2)), "-": () => look(view.nearer(0.5)), 0: whole,
    ArrowLeft: () => look(view.moved(step(), 0)), ArrowRight: () => look(view.moved(-step(), 0)),
    ArrowUp: () => look(view.moved(0, step())), ArrowDown: () => look(view.moved(0, -step())),
    n: () => choosePlace(chosen + 1), p: () => choosePlace(Math.max(chosen, 0) - 1),
  };
  function key(event) {
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(acts, name)) return;
    event.preventDefault();
    acts[name]();
  }
  followPointer(frame, drawing, { view: () => view, look, click: (i) => choosePlace(i) });

  // A unit of the drawing is a pixel, so that text and points have their size on every screen.
  new ResizeObserver(() => {
    const width = Math.round(frame.clientWidth);
    if (!width || view?.width === width) return;
    const height = Math.round(Math.min(480, Math.max(260, width * 0.5)));
    drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    look(view ? view.resized(width, height) : viewOf(boxOf(places), width, height));
  }).observe(frame);

  const button = (label, name, act) => el("button.plain", { type: "button", "aria-label": name, title: name, onclick: act }, label);
  return [
    el("div.toolbar", {}, choose,
      button("+", "Zoom in", acts["+"]), button("−", "Zoom out", acts["-"]), button("All", "Show all places", whole),
      button("←", "Place before", acts.p), button("→", "Next place", acts.n), where),
    frame,
    place,
    el("p.quiet.credit", {}, "Coasts: Natural Earth, public domain."),
  ];
}

const area = (b) => (b[2] - b[0]) * (b[3] - b[1]);
const longestValue = 300;

function shown(term, base) {
  const words = text(term);
  const short = words.length > longestValue ? words.slice(0, longestValue) + "…" : words;
  const href = address(term, base);
  return href ? el("a", { href }, short) : short;
}

const degree = (v, positive, negative) => `${Math.abs(v) < 1 ? Math.abs(v).toFixed(3) : Math.abs(v).toFixed(1)}° ${v < 0 ? negative : positive}`;
const extent = (b) => `${degree(Math.max(b[0], -180), "E", "W")} to ${degree(Math.min(b[2], 180), "E", "W")}, ${degree(Math.max(b[1], -90), "N", "S")} to ${degree(Math.min(b[3], 90), "N", "S")}`;

// Painting

const smallest = 4; // pixels below which a line or an area is drawn as a point

function paint(root, view, places, order, chosen, world) {
  const parts = [outline(world, view)];
  parts.push(...degreesOf(view));
  const seen = (b) => b[0] <= view.box[2] && b[2] >= view.box[0] && b[1] <= view.box[3] && b[3] >= view.box[1];
  for (const i of order) if (i !== chosen && seen(places[i].shape.box)) parts.push(placeOf(places[i], i, view, ""));
  if (chosen >= 0 && seen(places[chosen].shape.box)) parts.push(placeOf(places[chosen], chosen, view, ".chosen"));
  if (view.box[2] - view.box[0] < 45) parts.push(locator(world, view));
  root.replaceChildren(...parts);
}

function outline(world, view) {
  return svg("image", { href: world, x: view.x(-180), y: view.y(90), width: 360 * view.squeeze * view.scale, height: 180 * view.scale, preserveAspectRatio: "none" });
}

function degreesOf(view) {
  const [w, s, e, n] = view.box;
  const step = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30].find((d) => (e - w) / d <= Math.max(view.width / 110, 3)) || 60;
  const label = (v) => Math.round(v * 1000) / 1000 + "°";
  const parts = [];
  for (let d = Math.ceil(Math.max(w, -180) / step) * step; d <= Math.min(e, 180); d += step)
    parts.push(svg("line.grid-line", { x1: view.x(d), x2: view.x(d), y1: 0, y2: view.height }), svg("text", { x: view.x(d) + 3, y: view.height - 4 }, label(d)));
  for (let d = Math.ceil(Math.max(s, -90) / step) * step; d <= Math.min(n, 90); d += step)
    parts.push(svg("line.grid-line", { x1: 0, x2: view.width, y1: view.y(d), y2: view.y(d) }), svg("text", { x: 3, y: view.y(d) - 3 }, label(d)));
  return parts;
}

function placeOf({ row, shape }, i, view, chosen) {
  const group = svg("g.s0" + chosen, { "data-place": String(i) }, svg("title", {}, row.filter(Boolean).slice(0, 8).map((t) => text(t).slice(0, 80)).join("\n")));
  const [w, s, e, n] = shape.box;
  if (shape.size > 1 && (e - w) * view.squeeze * view.scale < smallest && (n - s) * view.scale < smallest) group.append(dot(view, (w + e) / 2, (s + n) / 2));
  else {
    const areas = shape.areas.flat().map((ring) => path(ring, view) + "Z").join("");
    const lines = shape.lines.map((line) => path(line, view)).join("");
    if (areas) group.append(svg("path.area", { d: areas, "fill-rule": "evenodd" }));
    if (lines) group.append(svg("path.line", { d: lines }));
    for (const [x, y] of shape.points) group.append(dot(view, x, y));
  }
  return group;
}

const dot = (view, x, y) => svg("circle", { cx: view.x(x).toFixed(1), cy: view.y(y).toFixed(1), r: 5 });

// Positions that would fall on the same pixel are left out.
function path(line, view) {
  let d = "";
  let px = Infinity, py = Infinity;
  for (let i = 0; i < line.length; i++) {
    const x = view.x(line[i][0]), y = view.y(line[i][1]);
    if (i > 0 && i < line.length - 1 && Math.abs(x - px) < 0.7 && Math.abs(y - py) < 0.7) continue;
    d += (i ? "L" : "M") + x.toFixed(1) + " " + y.toFixed(1);
    px = x;
    py = y;
  }
  return d;
}

// A small map of the world with the part that is seen.
function locator(world, view) {
  const w = 108, h = 54, x = view.width - w - 6, y = 6, k = w / 360;
  const part = { x: x + (view.box[0] + 180) * k - 2, y: y + (90 - view.box[3]) * k - 2, width: (view.box[2] - view.box[0]) * k + 4, height: (view.box[3] - view.box[1]) * k + 4 };
  return svg("g.locator", { "aria-hidden": "true" }, svg("rect.back", { x, y, width: w, height: h }), svg("image", { href: world, x, y, width: w, height: h }), svg("rect.part", part));
}

// Mouse and fingers: drag moves, Ctrl and the wheel or two fingers zoom. A finger moves the page until the map is chosen.
function followPointer(frame, drawing, { view, look, click }) {
  const held = new Map();
  let dragged = false;
  const at = (event) => {
    const box = drawing.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  frame.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    if (!held.size) dragged = false;
    held.set(event.pointerId, at(event));
  });
  frame.addEventListener("pointermove", (event) => {
    const from = held.get(event.pointerId);
    if (!from || !view()) return;
    const to = at(event);
    const moved = [to[0] - from[0], to[1] - from[1]];
    if (!dragged && Math.hypot(...moved) < 4) return;
    if (!dragged) frame.setPointerCapture(event.pointerId);
    dragged = true;
    if (held.size === 1) look(view().moved(...moved));
    else {
      const other = [...held].find(([id]) => id !== event.pointerId)[1];
      const apart = (p) => Math.max(Math.hypot(p[0] - other[0], p[1] - other[1]), 10);
      look(view().nearer(apart(to) / apart(from), (to[0] + other[0]) / 2, (to[1] + other[1]) / 2));
    }
    held.set(event.pointerId, to);
  });
  for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) frame.addEventListener(end, (event) => held.delete(event.pointerId));
  frame.addEventListener("pointerleave", (event) => frame.hasPointerCapture(event.pointerId) || held.delete(event.pointerId));
  drawing.addEventListener("click", (event) => {
    const place = event.target.closest("[data-place]");
    if (place && !dragged) click(Number(place.dataset.place));
  });
  drawing.addEventListener("dblclick", (event) => view() && look(view().nearer(2, ...at(event))));
  frame.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    if (view()) look(view().nearer(Math.exp(-Math.max(-100, Math.min(100, event.deltaY)) / 150), ...at(event)));
  }, { passive: false });
}
