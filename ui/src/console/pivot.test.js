import assert from "node:assert/strict";
import test from "node:test";
import { aggregates, csvOf, firstSettings, pivot } from "./pivot.js";

const xsd = "http://www.w3.org/2001/XMLSchema#";
const plain = (value) => ({ type: "literal", value });
const integer = (value) => ({ type: "literal", datatype: xsd + "integer", value });
const decimal = (value) => ({ type: "literal", datatype: xsd + "decimal", value });
const day = (value) => ({ type: "literal", datatype: xsd + "date", value });
const words = { corner: "city", total: "All" };

const trees = [
  [plain("Vienna"), plain("2025"), integer("9007199254740993")],
  [plain("Vienna"), plain("2026"), decimal("0.1")],
  [plain("Vienna"), plain("2026"), decimal("0.2")],
  [plain("Graz"), plain("2025"), decimal("-5.50")],
  [plain("Graz"), plain("2026"), plain("many")],
  [plain("Graz"), plain("2026"), undefined],
  [undefined, plain("2026"), integer("7")],
];

test("sums are exact, and totals are over all values", () => {
  const table = pivot(trees, { by: 0, across: 1, value: 2, aggregate: "sum" });
  assert.equal(csvOf(table, words), "city,2025,2026,All\r\n(unbound),,7,7\r\nGraz,-5.5,,-5.5\r\nVienna,9007199254740993,0.3,9007199254740993.3\r\nAll,9007199254740987.5,7.3,9007199254740994.8\r\n");
  assert.equal(table.left, 1); // "many"
});

test("rows are counted without a value, bound values with one", () => {
  assert.equal(csvOf(pivot(trees, { by: 0, across: -1, value: -1, aggregate: "count" }), words), "city,All\r\n(unbound),1\r\nGraz,3\r\nVienna,3\r\nAll,7\r\n");
  assert.equal(pivot(trees, { by: 0, across: -1, value: 2, aggregate: "count" }).cell(1, -1), "2");
  assert.equal(pivot(trees, { by: 0, across: 1, value: -1, aggregate: "count" }).cell(0, 0), "0");
});

test("a mean is of the values, not of the cells", () => {
  const rows = [["a", "x", "1"], ["a", "x", "2"], ["a", "y", "6"]].map((r) => r.map(plain));
  const table = pivot(rows, { by: 0, across: 1, value: 2, aggregate: "mean" });
  assert.deepEqual([table.cell(0, 0), table.cell(0, 1), table.cell(0, -1), table.cell(-1, -1)], ["1.5", "6", "3", "3"]);
});

test("the least and the greatest are of numbers, dates and text", () => {
  const of = (values, aggregate) => pivot(values.map((v) => [plain("k"), v]), { by: 0, across: -1, value: 1, aggregate }).cell(0, -1);
  assert.equal(of([integer("10"), integer("9"), integer("-3")], "min"), "-3");
  assert.equal(of([plain("10"), plain("9"), plain("1e3")], "max"), "1e3");
  assert.equal(of([day("2026-02-01"), day("2025-12-31")], "max"), "2026-02-01");
  assert.equal(of([plain("b"), plain("a")], "min"), "a");
  assert.equal(of([undefined], "min"), null);
});

test("numbers with exponents are summed as doubles; names, hexadecimals and empty text are none", () => {
  const of = (...values) => {
    const table = pivot(values.map((v) => [plain("k"), plain(v)]), { by: 0, across: -1, value: 1, aggregate: "sum" });
    return [table.cell(0, -1), table.left];
  };
  assert.deepEqual(of("1e3", "1"), ["1001", 0]);
  assert.deepEqual(of("INF", "NaN", "", " ", "0x10", "Infinity", "."), [null, 7]);
  assert.deepEqual(of("-.5", "+.5", "-0.00"), ["0", 0]);
  assert.deepEqual(of("-0.25", "0.05"), ["-0.2", 0]);
});

test("terms that look alike are different groups", () => {
  const rows = [[plain("1")], [integer("1")], [{ type: "uri", value: "1" }], [{ type: "literal", value: "1", "xml:lang": "en" }]];
  assert.equal(pivot(rows, { by: 0, across: -1, value: -1, aggregate: "count" }).rows.length, 4);
});

test("CSV quotes what it must, and is not made where it would be too large", () => {
  const rows = [['say "hi", all', "x"], ["two\nlines", "x"]].map((r) => r.map(plain));
  assert.equal(csvOf(pivot(rows, { by: 0, across: -1, value: -1, aggregate: "count" }), words), 'city,All\r\n"say ""hi"", all",1\r\n"two\nlines",1\r\nAll,2\r\n');
  const wide = Array.from({ length: 3000 }, (_, i) => [plain("r" + i), plain("c" + i)]);
  const table = pivot(wide, { by: 0, across: 1, value: -1, aggregate: "count" });
  assert.equal(csvOf(table, words), null);
  assert.equal(table.cell(-1, -1), "3000");
});

test("groups are limited, and the rows beyond are counted", () => {
  const rows = Array.from({ length: 100_050 }, (_, i) => [integer(String(i))]);
  const table = pivot(rows, { by: 0, across: -1, value: -1, aggregate: "count" });
  assert.deepEqual([table.rows.length, table.beyond, table.cell(-1, -1)], [100_000, 50, "100000"]);
});

test("the first settings group by what repeats and sum what is a number", () => {
  assert.deepEqual(firstSettings({ vars: ["city", "year", "trees"], rows: [["Graz", "y1", "5"], ["Graz", "y2", "6"], ["Wien", "y1", "7"]].map((r) => r.map(plain)) }), { by: 0, across: 1, value: 2, aggregate: "sum" });
  assert.deepEqual(firstSettings({ vars: ["city"], rows: [[plain("a")], [plain("b")]] }), { by: 0, across: -1, value: -1, aggregate: "count" });
  assert.deepEqual(firstSettings({ vars: ["n"], rows: [[plain("1")]] }), { by: 0, across: -1, value: -1, aggregate: "count" });
});

test("random pivots agree with a plain count", () => {
  let seed = 12345;
  const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  for (let round = 0; round < 20; round++) {
    const rows = Array.from({ length: 200 }, () => [plain("r" + random(7)), plain("c" + random(5)), integer(String(random(100) - 50))]);
    for (const aggregate of aggregates) {
      const table = pivot(rows, { by: 0, across: 1, value: 2, aggregate });
      table.rows.forEach((row, r) => table.columns.forEach((column, c) => {
        const values = rows.filter((x) => x[0].value === row.value && x[1].value === column.value).map((x) => Number(x[2].value));
        const sum = values.reduce((a, b) => a + b, 0);
        const want = { count: values.length, sum, mean: sum / values.length, min: Math.min(...values), max: Math.max(...values) }[aggregate];
        if (!values.length) assert(table.cell(r, c) === null || table.cell(r, c) === "0");
        else assert.equal(Number(table.cell(r, c)), want, aggregate);
      }));
    }
  }
});
