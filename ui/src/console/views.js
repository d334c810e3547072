// Views of rows besides the table: chart, timeline.

import { el, svg } from "../lib/dom.js";
import { count } from "../lib/format.js";
import { isDate, isNumber, text } from "./terms.js";

const most = 2000; // marks drawn

const columnsOf = (result, test) => result.vars.map((_, i) => i).filter((i) => result.rows.slice(0, 200).some((row) => row[i] && test(row[i])));
const numberColumns = (r) => columnsOf(r, (t) => isNumber(t) || (t.value !== "" && !Number.isNaN(Number(t.value)) && t.type === "literal"));
const dateColumns = (r) => columnsOf(r, (t) => isDate(t) || /^\d{4}-\d\d-\d\d/.test(t.value));

export function pick(label, vars, choices, chosen, onchange) {
  return el("label", {}, label + " ", el("select", { onchange: (e) => onchange(Number(e.target.value)) }, ...choices.map((i) => el("option", { value: String(i), selected: i === chosen }, vars[i]))));
}

export const canChart = (r) => numberColumns(r).length > 0;
export const canTimeline = (r) => dateColumns(r).length > 0;

export function chart(result) {
  const numbers = numberColumns(result);
  const all = result.vars.map((_, i) => i);
  let kind = dateColumns(result).length ? "line" : numbers.length > 1 && all.length === numbers.length ? "scatter" : "bar";
  let y = numbers.at(-1);
  let x = (kind === "line" ? dateColumns(result)[0] : all.find((i) => i !== y)) ?? y;
  const node = el("div.chart");
  const draw = () => {
    const kinds = el("label", {}, "Draw ", el("select", { onchange: (e) => ((kind = e.target.value), draw()) }, ...["bar", "line", "scatter"].map((k) => el("option", { value: k, selected: k === kind }, { bar: "bars", line: "a line", scatter: "points" }[k]))));
    node.replaceChildren(
      el("div.toolbar", {}, kinds, pick("of", result.vars, numbers, y, (i) => ((y = i), draw())), pick("over", result.vars, all, x, (i) => ((x = i), draw()))),
      plot(result, kind, x, y),
      result.rows.length > most ? el("p.quiet", {}, `The first ${count(most)} rows.`) : "",
    );
  };
  draw();
  return node;
}

// Addresses differ mostly at their ends.
const tail = (s, most) => (s.length > most ? "…" + s.slice(1 - most) : s);

function nice(max) {
  if (max <= 0) return 1;
  const p = 10 ** Math.floor(Math.log10(max));
  return [1, 2, 5, 10].map((m) => m * p).find((v) => v >= max);
}

function short(v) {
  for (const [size, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) if (Math.abs(v) >= size) return Math.round((v / size) * 10) / 10 + unit;
  return String(Math.round(v * 100) / 100);
}

function plot(result, kind, xc, yc) {
  const rows = result.rows.slice(0, most).filter((r) => r[yc]);
  const W = 900, H = 380, L = 60, B = 90, T = 12;
  const ys = rows.map((r) => Number(r[yc].value));
  const low = Math.min(0, ...ys), high = nice(Math.max(...ys, 0));
  const y = (v) => H - B - ((H - B - T) * (v - low)) / (high - low || 1);
  const root = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${result.vars[yc]} over ${result.vars[xc]}` });
  for (let i = 0; i <= 4; i++) {
    const v = low + ((high - low) * i) / 4;
    root.append(svg("line.grid-line", { x1: L, x2: W, y1: y(v), y2: y(v) }), svg("text", { x: L - 8, y: y(v) + 4, "text-anchor": "end" }, short(v)));
  }
  const label = (r) => tail(text(r[xc]), 24);
  const xs = rows.map((r) => {
    const t = r[xc];
    if (!t) return NaN;
    if (kind !== "bar" && isNumber(t)) return Number(t.value);
    return kind === "bar" ? NaN : Date.parse(t.value);
  });
  const measured = kind !== "bar" && xs.length > 0 && xs.every((v) => !Number.isNaN(v));
  const [x0, x1] = measured ? [Math.min(...xs), Math.max(...xs)] : [0, rows.length];
  const x = (i) => L + (W - L - 10) * (measured ? (x1 > x0 ? (xs[i] - x0) / (x1 - x0) : 0.5) : (i + 0.5) / rows.length);
  const width = Math.max(((W - L) / rows.length) * 0.8, 0.6);
  if (kind === "line") {
    const sortedPoints = rows.map((_, i) => [x(i), y(ys[i])]).sort((a, b) => a[0] - b[0]);
    root.append(svg("path.s0", { d: "M" + sortedPoints.map((p) => p.map((v) => v.toFixed(1)).join(" ")).join("L") }));
  }
  rows.forEach((row, i) => {
    const title = svg("title", {}, `${text(row[xc])}: ${text(row[yc])}`);
    if (kind === "bar") root.append(svg("rect.s0", { x: x(i) - width / 2, width, y: Math.min(y(ys[i]), y(0)), height: Math.max(Math.abs(y(ys[i]) - y(0)), 0.5) }, title));
    else root.append(svg("circle.s0", { cx: x(i), cy: y(ys[i]), r: kind === "line" ? 2.5 : 4, "fill-opacity": "0.7" }, title));
  });
  const every = Math.max(1, Math.ceil(rows.length / 12));
  rows.forEach((row, i) => {
    if (i % every === 0 && !measured) root.append(svg("text", { transform: `translate(${x(i)} ${H - B + 16}) rotate(-28)`, "text-anchor": "end" }, label(row)));
  });
  if (measured) {
    const isTime = !isNumber(rows[0][xc]);
    for (let i = 0; i <= 4; i++) {
      const v = x0 + ((x1 - x0) * i) / 4;
      root.append(svg("text", { x: L + ((W - L - 10) * i) / 4, y: H - B + 20, "text-anchor": i === 4 ? "end" : "middle" }, isTime ? new Date(v).toISOString().slice(0, 16).replace("T", " ") : short(v)));
    }
  }
  return root;
}

export function timeline(result) {
  const dates = dateColumns(result);
  let when = dates[0];
  const others = result.vars.map((_, i) => i).filter((i) => !dates.includes(i));
  let lane = repeating(result, others) ?? others[0] ?? when;
  const node = el("div.chart");
  const draw = () => {
    node.replaceChildren(
      el("div.toolbar", {}, pick("When", result.vars, dates, when, (i) => ((when = i), draw())), others.length ? pick("one line for each", result.vars, others, lane, (i) => ((lane = i), draw())) : ""),
      lanes(result, when, lane),
    );
  };
  draw();
  return node;
}

// Finds the column that groups events into lines: the first one with repeated values, preferably IRIs.
function repeating(result, columns) {
  const rows = result.rows.slice(0, most);
  const again = columns.filter((i) => new Set(rows.map((row) => text(row[i]))).size < rows.length);
  return again.find((i) => rows.some((row) => row[i]?.type === "uri")) ?? again[0];
}

function lanes(result, when, lane) {
  const groups = new Map();
  for (const row of result.rows.slice(0, most)) {
    const t = row[when] && Date.parse(row[when].value);
    if (!t && t !== 0) continue;
    const key = text(row[lane]);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push([t, row]);
  }
  const shown = [...groups].slice(0, 60);
  const times = shown.flatMap(([, list]) => list.map(([t]) => t));
  if (!times.length) return el("p.quiet", {}, "No dates in this column.");
  let [t0, t1] = [Math.min(...times), Math.max(...times)];
  if (t0 === t1) [t0, t1] = [t0 - 1000, t1 + 1000];
  const W = 900, L = 260, step = 24, H = shown.length * step + 40;
  const x = (t) => L + ((W - L - 16) * (t - t0)) / (t1 - t0);
  const root = svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "Timeline" });
  shown.forEach(([key, list], i) => {
    const y = i * step + 16;
    root.append(svg("line.grid-line", { x1: L, x2: W, y1: y, y2: y }), svg("text", { x: L - 10, y: y + 4, "text-anchor": "end" }, tail(key, 38)));
    for (const [t, row] of list) root.append(svg("circle.s0", { cx: x(t), cy: y, r: 5, "fill-opacity": "0.65" }, svg("title", {}, row.map(text).join("\n"))));
  });
  for (let i = 0; i <= 3; i++) {
    const t = t0 + ((t1 - t0) * i) / 3;
    root.append(svg("text", { x: x(t), y: H - 8, "text-anchor": i === 3 ? "end" : i === 0 ? "start" : "middle" }, new Date(t).toISOString().slice(0, 16).replace("T", " ")));
  }
  return root;
}
