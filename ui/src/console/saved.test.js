import assert from "node:assert/strict";
import test, { beforeEach } from "node:test";
import { read, write } from "../lib/kept.js";
import { exported, imported, list, mostSaved, remove, rename, save } from "./saved.js";

// The storage of a browser; refuses fails as Chromium does when it is full.
let stored, refuses;
beforeEach(() => {
  stored = new Map();
  refuses = false;
  globalThis.localStorage = {
    getItem: (k) => stored.get(k) ?? null,
    setItem(k, v) {
      if (refuses) throw new DOMException("full", "QuotaExceededError");
      stored.set(k, v);
    },
  };
});

const names = () => list().map((q) => q.name);

test("queries are saved, replaced, renamed and removed by name", () => {
  save({ name: " Trees  of\nVienna ", query: "ASK {}", view: "Map" });
  save({ name: "Query 10", query: "q10" });
  save({ name: "Query 9", query: "q9" });
  assert.deepEqual(names(), ["Query 9", "Query 10", "Trees of Vienna"]);
  save({ name: "Query 9", query: "other" });
  assert.equal(list()[0].query, "other");
  rename("Query 9", "A");
  assert.deepEqual(names(), ["A", "Query 10", "Trees of Vienna"]);
  assert.throws(() => rename("A", "Query 10"), /already/);
  assert.throws(() => rename("gone", "B"), /no longer/);
  assert.throws(() => rename("A", "  "), /name/);
  save(remove("Trees of Vienna"));
  assert.equal(list().at(-1).view, "Map");
  assert.equal(remove("gone"), undefined);
});

test("a storage that is full or forbidden says so in one sentence, and nothing is lost", () => {
  save({ name: "A", query: "a" });
  refuses = true;
  for (const act of [() => save({ name: "B", query: "b" }), () => rename("A", "C"), () => remove("A")]) assert.throws(act, /full or forbidden/);
  assert.deepEqual(names(), ["A"]);
  globalThis.localStorage = undefined;
  assert.deepEqual(names(), []);
  assert.throws(() => save({ name: "B", query: "b" }), /full or forbidden/);
});

test("the number of queries is limited", () => {
  write("saved", Array.from({ length: mostSaved }, (_, i) => ({ name: "n" + i, query: "q" })));
  assert.equal(names().length, mostSaved);
  assert.throws(() => save({ name: "one more", query: "q" }), /At most/);
  save({ name: "n5", query: "replaced" });
});

test("a file brings the queries to another browser", () => {
  save({ name: "A", query: "a", view: "Pivot", settings: { by: 1 }, request: { defaultGraphs: ["http://g"] } });
  save({ name: "B", query: "b" });
  const file = exported();
  stored.clear();
  save({ name: "A", query: "another" });
  save({ name: "B", query: "b" });
  assert.equal(imported(file), 1);
  assert.deepEqual(names(), ["A", "A (2)", "B"]);
  assert.deepEqual(list()[1].settings, { by: 1 });
  assert.equal(imported(file), 0); // again
  assert.deepEqual(names(), ["A", "A (2)", "B"]);
});

test("a file that is none changes nothing and says why", () => {
  save({ name: "A", query: "a" });
  for (const [text, why] of [["", /JSON/], ["[]", /exported/], ["null", /exported/], ['{"format":"odarchive-queries","version":2}', /newer/]]) assert.throws(() => imported(text), why);
  assert.equal(imported('{"format":"odarchive-queries","version":1,"queries":[null,{"name":"x"},{"query":"y"},{"name":"  ","query":"z"},{"name":"ok","query":"q","request":{"method":"GET","headers":{"Authorization":"x"},"defaultGraphs":[1,"http://g"]},"evil":1}]}'), 1);
  assert.deepEqual(read("saved")[1], { name: "ok", query: "q", request: { defaultGraphs: ["http://g"] } });
  assert.throws(() => imported(JSON.stringify({ format: "odarchive-queries", version: 1, queries: Array.from({ length: mostSaved + 1 }, (_, i) => ({ name: "n" + i, query: "q" + i })) })), /At most/);
  assert.deepEqual(names(), ["A", "ok"]);
});

test("a storage with rubbish is an empty list", () => {
  write("saved", []);
  for (const rubbish of ["{", "5", '{"a":1}', '[1,null,{"name":1,"query":"x"}]']) {
    for (const key of [...stored.keys()]) stored.set(key, rubbish);
    assert.deepEqual(names(), []);
  }
});
