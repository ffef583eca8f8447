import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { startHttpDouble } from "@workflow/testkit";
import { createActive, createWorkflow, getRun, listRuns, postRun, runIdOf, runToEnd, startRun, transform, delay, waitForRun } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";
let system: WholeSystem; let outside: any;
const log = (l: string, x: any) => process.stderr.write(l + ": " + (typeof x === "string" ? x : JSON.stringify(x))?.slice(0, 600) + "\n");
beforeAll(async () => {
  outside = await startHttpDouble(({ path }) => {
    if (path === "/nul") return { status: 200, headers: {"content-type":"application/json"}, body: '{"a":"\\u0000 \\ud800"}' };
    if (path === "/deep") return { status: 200, headers: {"content-type":"application/json"}, body: "[".repeat(20000) + "]".repeat(20000) };
    if (path === "/404") return { status: 404 };
    if (path === "/proto") return { status: 200, headers: {"content-type":"application/json"}, body: '{"__proto__":{"x":1},"a":1}' };
    return {};
  });
  system = await startWholeSystem(); });
afterAll(async () => { await system.stop(); await outside.close(); });
const http = (config: any, more = {}) => ({ id: "h", type: "action", name: "h", action: "http.request", config: { method: "GET", url: outside.url + "/", ...config }, ...more });
const expr = (expression: string) => ({ id: "e", type: "transform", name: "e", config: { expression } });
async function r(label: string, steps: any[], input: any = {}, changes: any = {}) {
  const c = await system.call("POST", "/workflows", { body: { name: label, trigger: { type: "api" }, steps, ...changes } });
  if (c.status !== 201) { log(label + " CREATE " + c.status, c.error); return; }
  const id = (c.data as any).id;
  const a = await system.call("POST", `/workflows/${id}/activate`);
  if (a.status !== 200) { log(label + " ACTIVATE", a.error); return; }
  const s = await postRun(system, id, { input });
  if (s.status !== 202) { log(label + " START " + s.status, s.error); return; }
  try { const run = await waitForRun(system, runIdOf(s)); log(label, [run.status, run.output, run.error, run.stepResults.at(-1)?.output]); } catch (e) { const raw = await system.call("GET", `/runs/${runIdOf(s)}`); log(label + " THROW", String(e).slice(0, 300) + raw.text.slice(0,300)); }
}
it("probe", async () => {
  await r("statuses 2xx", [http({ successStatuses: ["2xx"] })]);
  await r("statuses 4xx", [http({ url: outside.url + "/404", successStatuses: ["4xx", 200] })]);
  await r("timeoutMs 600000", [http({ timeoutMs: 600000 })]);
  await r("query null in array", [http({ query: { a: [1, null, "x"] } })]);
  await r("auth connection", [http({ auth: { type: "connection" } })]);
  await r("nul response", [http({ url: outside.url + "/nul" }), transform("t", "{{steps.h.output.body}}")]);
  await r("deep response", [http({ url: outside.url + "/deep" }), transform("t", ["{{steps.h.output.body}}"])]);
  await r("proto response", [http({ url: outside.url + "/proto" }), transform("t", "{{steps.h.output.body}}")]);
  await r("surrogate expr", [expr('$substring("😀x",0,1)')]);
  await r("nul expr", [expr('"a\\u0000b"')]);
  await r("undefined expr", [expr("nothing.here")]);
  await r("function expr", [expr("function($x){$x}")]);
  await r("inf expr", [expr("1/0")]);
  await r("date expr", [expr("$now()")]);
  await r("loop expr", [expr("($f := function($x){$f($x)}; $f(1))")]);
  await r("when all[]", [{ ...transform("a", 1), when: { all: [] } }]);
  await r("delay 0", [delay("d", 0), transform("o", 1)]);
  await r("delay template", [delay("d", "{{input.ms}}"), transform("o", 1)], { ms: 10 });
  await r("delay bad template", [delay("d", "{{input.ms}}"), transform("o", 1)], { ms: "x" });
  await r("until past", [{ id: "d", type: "delay", name: "d", config: { until: "2020-01-01T00:00:00Z" } }]);
  const wrap = [transform("s0", [0])]; for (let n = 1; n < 300; n++) wrap.push(transform(`s${n}`, [`{{steps.s${n - 1}.output}}`] as any));
  await r("wrap 300", wrap);
  const dbl = [transform("s0", "x".repeat(100) as any)]; for (let n = 1; n < 25; n++) dbl.push(transform(`s${n}`, [`{{steps.s${n - 1}.output}}`, `{{steps.s${n - 1}.output}}`] as any));
  await r("double 25", dbl);
  for (const [l, inputSchema] of [
    ["async", { $async: true, type: "object", required: ["a"] }],
    ["format", { type: "object", properties: { a: { type: "string", format: "phone" } } }],
    ["keyword", { type: "object", "x-ui": 1, properties: { a: { type: "string", example: "x", title: "y" } } }],
    ["nullable", { type: "object", properties: { a: { type: "string", nullable: true } } }],
    ["2020", { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object", required: ["a"] }],
    ["2019", { $schema: "https://json-schema.org/draft/2019-09/schema", type: "object", required: ["a"] }],
    ["07", { $schema: "http://json-schema.org/draft-07/schema#", type: "object", required: ["a"] }],
    ["07 ns", { $schema: "http://json-schema.org/draft-07/schema", type: "object", required: ["a"] }],
    ["04", { $schema: "http://json-schema.org/draft-04/schema#", id: "x", type: "object", required: ["a"] }],
    ["union types", { type: ["object", "null"], properties: { a: { type: ["string", "number"] } } }],
    ["no type", { required: ["a"], properties: { a: { minLength: 1 } } }],
    ["ref", { $defs: { A: { type: "string" } }, type: "object", properties: { a: { $ref: "#/$defs/A" } }, required: ["a"] }],
    ["definitions", { definitions: { A: { type: "string" } }, type: "object", properties: { a: { $ref: "#/definitions/A" } }, required: ["a"] }],
    ["remote ref", { $ref: "http://127.0.0.1/x.json" }],
    ["recursive", { $ref: "#" }],
    ["id1", { $id: "https://x.example/s", type: "object", required: ["a"] }],
    ["id2", { $id: "https://x.example/s", type: "object", required: ["b"] }],
    ["tuple", { type: "object", properties: { a: { type: "array", items: [{ type: "string" }] } } }],
    ["default", { type: "object", properties: { a: { type: "string", default: "dd" } } }],
    ["empty", {}],
    ["lookahead", { type: "object", properties: { a: { type: "string", pattern: "^(?=x)" } } }],
  ] as const) await r("schema " + l, [transform("o", "{{input}}")], {}, { inputSchema });
  // tags, concurrency
  const cid = await createActive(system, { steps: [delay("d", 700)], settings: { concurrency: { limit: 1, onLimit: "queue" } } });
  const ids = await Promise.all([1, 2, 3].map(() => startRun(system, cid)));
  await waitForRun(system, ids[0]!, ["running", "completed"]);
  log("concurrency", (await Promise.all(ids.map((i) => getRun(system, i)))).map((x) => x.status));
  const up = (await createWorkflow(system)).id.toUpperCase();
  for (const p of [`/workflows/${up}`, `/workflows/${up}/runs`, `/runs?workflowId=${up}`]) log(p, (await system.call("GET", p)).status + "");
  const ua = (await createActive(system)); await startRun(system, ua);
  log("upper run", (await postRun(system, ua.toUpperCase(), {})).text);
  log("upper list", (await listRuns(system, `/runs?workflowId=${ua.toUpperCase()}`)).items.length + "");
  log("trailing slash", (await system.call("GET", "/workflows/")).status + "");
  log("cursor empty", (await system.call("GET", "/workflows?cursor=")).status + "");
  for (const q of ["limit=050", "limit=+5", "limit=5%20", "createdAfter=2026-01-01", "createdAfter=2026-01-01T00:00:00%2B02:00", "createdAfter=0000-01-01T00:00:00Z", "tag="]) log(q, (await system.call("GET", "/runs?" + q)).status + "");
  const big = []; for (let n = 0; n < 1000; n++) big.push(transform(`s${n}`, n));
  const t = Date.now(); await r("1000 steps", big); log("ms", String(Date.now() - t));
  for (const type of ["loop", "parallel", "email", "agent", "approval", "workflow"]) await r("type " + type, [{ id: "a", type, name: "a", config: {} }]);
}, 120000);
