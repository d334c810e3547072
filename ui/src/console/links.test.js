import assert from "node:assert/strict";
import test from "node:test";
import { asksOthers, ownAddress, readAddress, yasguiAddress } from "./links.js";

const page = "https://archive.example/data/console";
const ours = ["https://archive.example/data/sparql"];
const read = (address) => {
  const { search, hash, href } = new URL(address, page);
  return readAddress({ search, hash, href }, ours);
};

// As YASGUI 4 writes it.
const yasgui = page + "#query=PREFIX%20x%3A%20%3Chttp%3A%2F%2Fx%23%3E%20SELECT%20*%20%7B%20%3Fs%20x%3Ap%20%22a%2Bb%20%26%20c%22%20%7D&endpoint=https%3A%2F%2Farchive.example%2Fdata%2Fsparql&requestMethod=POST&tabTitle=Trees%20%26%20parks&headers=%7B%7D&contentTypeConstruct=application%2Fn-triples%2C*%2F*%3Bq%3D0.9&contentTypeSelect=application%2Fsparql-results%2Bjson%2C*%2F*%3Bq%3D0.9&outputFormat=geo";

test("an address of YASGUI is read", () => {
  const got = read(yasgui);
  assert.equal(got.query, 'PREFIX x: <http://x#> SELECT * { ?s x:p "a+b & c" }');
  assert.deepEqual([got.name, got.view, got.elsewhere, got.ignored], ["Trees & parks", "Map", null, []]);
  assert.equal(got.request.graphType, "application/n-triples");
  assert.equal(read("?query=ASK%7B%7D&endpoint=/data/sparql/&outputFormat=rawResponse").view, "Raw"); // as older ones write it
});

test("an address without a query is none", () => {
  for (const address of ["", "#main", "#endpoint=https://evil.example/", "?q=1", "#"]) assert.equal(read(address), null, address);
});

test("what is written is read again, in both forms", () => {
  const tab = { query: 'SELECT * { ?s ?p "100 % + ü & #x" }\n', name: "Ümläut & co", view: "Pivot", settings: { by: 0, across: 1, value: -1, aggregate: "count" }, request: { defaultGraphs: ["http://g.example/1"], namedGraphs: ["http://g.example/2", "http://g.example/3"] } };
  for (const address of [ownAddress("/data", tab), yasguiAddress(page, ours[0], tab)]) {
    const { query, name, view, settings, request, elsewhere, ignored } = read(address);
    assert.deepEqual({ query, name, view, settings, request: { defaultGraphs: request.defaultGraphs, namedGraphs: request.namedGraphs } }, tab, address);
    assert.deepEqual([elsewhere, ignored], [null, []]);
  }
  assert.equal(ownAddress("", { query: "ASK {}", name: "Query 2", view: "Table" }), "/console?query=ASK+%7B%7D");
  const long = "SELECT * { ?s ?p ?o } # " + "x".repeat(5000);
  assert.match(ownAddress("/data", { query: long }), /^\/data\/console#query=/);
  assert.equal(read(ownAddress("/data", { query: long })).query, long);
});

test("an endpoint elsewhere is named, and never without what a person sees", () => {
  const got = read("#query=ASK%7B%7D&endpoint=" + encodeURIComponent("https://user:secret@other.example:8443/sparql?key=1#x"));
  assert.deepEqual([got.elsewhere.host, got.elsewhere.text], ["other.example:8443", "https://other.example:8443/sparql?key=1"]);
  assert.equal(got.elsewhere.open("ASK {}"), "https://other.example:8443/sparql?key=1&query=ASK+%7B%7D");
  for (const endpoint of ["javascript:alert(1)", "data:text/html,x", "http://", "file:///etc/passwd"]) {
    const { elsewhere } = read("#query=ASK%7B%7D&endpoint=" + encodeURIComponent(endpoint));
    assert.equal(elsewhere.open, undefined, endpoint);
    assert.equal(elsewhere.text, endpoint);
  }
  // Neighbours of ours are not ours.
  for (const endpoint of ["http://archive.example/data/sparql", "https://archive.example:444/data/sparql", "https://archive.example/sparql", "//evil.example/data/sparql", "https://archive.example@evil.example/data/sparql"])
    assert(read("#query=ASK%7B%7D&endpoint=" + encodeURIComponent(endpoint)).elsewhere, endpoint);
});

test("headers and arguments of an address are named and not followed", () => {
  const got = read("#query=ASK%7B%7D&headers=" + encodeURIComponent('{"Authorization":"Bearer x","X-A":"b"}') + "&timeout=99999&update=CLEAR%20ALL&outputFormat=gallery");
  assert.deepEqual(got.ignored, ["the header Authorization", "the header X-A", "the argument timeout", "the argument update", "the view gallery"]);
  assert.deepEqual(Object.keys(got.request), []);
});

test("broken settings are left out", () => {
  for (const bad of ["{", "null", "1", '"x"', "[".repeat(1000)]) assert.equal(read("#query=ASK%7B%7D&outputFormat=pivot&headers=" + encodeURIComponent(bad) + "&outputSettings=" + encodeURIComponent(bad)).settings, undefined);
  assert.equal(read("#query=a&" + "defaultGraph=x&".repeat(500)).request.defaultGraphs.length, 50);
  assert.deepEqual(read("#query=%ff%zz&tabTitle=%").name, "%");
});

test("a query that asks other servers is seen", () => {
  for (const [query, want] of [
    ["SELECT * { SERVICE <http://x/> { ?s ?p ?o } }", true],
    ["SELECT * { service silent ?e {} }", true],
    ["SELECT * {SERVICE<http://x/>{}}", true],
    ['SELECT * { ?s ?p "SERVICE <http://x/>" } # SERVICE', false],
    ["SELECT * { ?service <http://x/SERVICE> ex:SERVICE }", false],
    ["SELECT * { ?s ?p <http://x/#a> SERVICE <http://y/> {} }", true],
    ['SELECT * { ?s ?p """ "\nSERVICE """ }', false],
    ["SELECT * { ?s ?p 'it\\'s SERVICE' }", false],
    ["SELECT * { FILTER(?a <?b) SERVICE <http://x/> {} }", true],
    ["SELECT * {?s ?p ?o.SERVICE <http://x/>{?a ?b ?c}}", true],
    ["SELECT * {SERVICE?x{}}", true],
    ["SELECT * {?s ex:p ex:o.SERVICE <http://x/>{}}", true],
    ["SELECT * {#c\rSERVICE <http://x/>{}}", true],
    ['SELECT * {BIND("""a\\"""" AS ?x) SERVICE <http://x/>{?a ?b "c"}}', true],
    ["SELECT * {?s ?p ex:a\\' . SERVICE <http://x/> {?s ?p 'c'}}", true],
    ["SELECT * {?s ?p <http://x/\u00a0#y> SERVICE <http://x/> {}}", true],
    ["SELECT * {?s ?p 1.SERVICE <http://x/>{}}", true],
    ["SELECT * {?s service:p _:service, $service, 'x'@service, :service}", false],
  ]) assert.equal(asksOthers(query), want, query);
});
