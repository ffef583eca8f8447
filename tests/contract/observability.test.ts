import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { createMetricsRegistry } from "@workflow/service";
import {
  promtoolFromPackage,
  startHttpDouble,
  startOtlpCollector,
  waitFor,
} from "@workflow/testkit";
import type { HttpDouble, OtlpCollector } from "@workflow/testkit";
import GithubSlugger from "github-slugger";
import { z } from "zod";
import { makeReceived } from "../support/received-webhooks.ts";
import { createActive, failing, startRun, transform, waitForRun } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const ROOT = join(import.meta.dirname, "../..");
const FOLDER = join(ROOT, "deploy/observability");
const run = promisify(execFile);

const board = z.object({
  panels: z.array(
    z.object({
      title: z.string(),
      gridPos: z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() }),
      targets: z.array(z.object({ expr: z.string() })).default([]),
    }),
  ),
});

/** Only with a NATS server; the tests of the bus look at them. */
const WITH_NATS = ["nats_consumer_waiting_events", "nats_consumer_unacknowledged_events"];
/** Only with TLS between the parts; the tests of separate processes look at them. */
const WITH_TLS = ["tls_certificate_renewals_total", "tls_certificate_expires_timestamp_seconds"];
/** Of Node and of its process, as prom-client makes them. */
const OF_NODE = /^(nodejs|process)_/;

let system: WholeSystem;
let collector: OtlpCollector;
let receiver: HttpDouble;
const registry = createMetricsRegistry();

/** A smoke run: requests, runs that end well and badly, an event that is delivered, spans that are sent. */
beforeAll(async () => {
  collector = await startOtlpCollector();
  receiver = await startHttpDouble();
  system = await startWholeSystem({
    metricsRegistry: registry,
    tracing: { endpoint: collector.url, sampler: "always_on", ratio: 1 },
  });
  await makeReceived(system, receiver);
  const good = await createActive(system, { steps: [transform("out", 1)] });
  const bad = await createActive(system, { steps: [failing("call")] });
  for (const id of [good, bad]) await waitForRun(system, await startRun(system, id));
  await waitFor(() => receiver.requests.length >= 4 && collector.spans().length > 0);
});
afterAll(async () => {
  await system.stop();
  await collector.close();
  await receiver.close();
});

/** Names of the metrics that the smoke run exports, histograms without their suffixes. */
async function exportedNames(): Promise<Set<string>> {
  const text = await registry.metrics();
  return new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = ""]) => name));
}

/** Names of the metrics that an expression of Prometheus reads. */
function namesIn(expression: string): string[] {
  const bare = expression
    .replaceAll(/"[^"]*"|\{[^}]*\}|\[[^\]]*\]/g, "")
    .replaceAll(/\b(?:by|without)\s*\([^)]*\)/g, "");
  const words = bare.match(/[a-z_][a-z0-9_]*_[a-z0-9_]*(?!\s*\()\b/g) ?? [];
  return words
    .filter((word) => word !== "histogram_quantile")
    .map((word) => word.replace(/_(?:bucket|count|sum)$/, ""));
}

async function missingFrom(expressions: readonly string[]): Promise<string[]> {
  const exported = await exportedNames();
  const read = new Set(expressions.flatMap(namesIn));
  expect(read.size).toBeGreaterThan(10);
  return [...read].filter(
    (name) => !exported.has(name) && ![...WITH_NATS, ...WITH_TLS].includes(name),
  );
}

describe("the files of deploy/observability", () => {
  it("have rules that promtool takes, and that fire and rest as their tests say", async () => {
    const promtool = await promtoolFromPackage();
    const checked = await run(promtool, ["check", "config", "prometheus.yml"], { cwd: FOLDER });
    expect(checked.stdout).toMatch(/SUCCESS: \d\d rules found/);
    const tested = await run(promtool, ["test", "rules", "alerts.test.yml"], { cwd: FOLDER });
    expect(tested.stdout).toContain("SUCCESS");
  });

  it("have rules about series that the service exports", async () => {
    const rules = await readFile(join(FOLDER, "alerts.yml"), "utf8");
    const expressions = [...rules.matchAll(/^ {8}expr: (?:>-\n((?: {10}.*\n)+)|(.*)\n)/gm)];
    expect(expressions).toHaveLength([...rules.matchAll(/- alert:/g)].length);
    expect(await missingFrom(expressions.map(([, folded, line]) => folded ?? line ?? ""))).toEqual(
      [],
    );
  });

  it("have a runbook for each rule, whose page and heading are there", async () => {
    const rules = await readFile(join(FOLDER, "alerts.yml"), "utf8");
    const runbooks = [...rules.matchAll(/^ {10}runbook: (\S+\.md)#(\S+)$/gm)];
    expect(runbooks).toHaveLength([...rules.matchAll(/- alert:/g)].length);
    const lost: string[] = [];
    for (const [, page = "", anchor] of runbooks) {
      const slugger = new GithubSlugger();
      const headings = (await readFile(join(ROOT, page), "utf8")).matchAll(/^#+ (.+)$/gm);
      const anchors = [...headings].map(([, heading = ""]) => slugger.slug(heading));
      if (!anchors.includes(anchor ?? "")) lost.push(`${page}#${anchor}`);
    }
    expect(lost).toEqual([]);
  });

  it("have a board about series that the service exports, whose panels do not overlap", async () => {
    const { panels } = board.parse(
      JSON.parse(await readFile(join(FOLDER, "dashboard.json"), "utf8")),
    );
    const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    expect(await missingFrom(expressions)).toEqual([]);
    const taken = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from(
        { length: h * w },
        (_, place) => `${x + (place % w)},${y + Math.floor(place / w)}`,
      ),
    );
    expect(new Set(taken).size).toBe(taken.length);
  });
});

describe("what alerts are about", () => {
  it("is there before the first failure, so that this one is an increase", async () => {
    const text = await registry.metrics();
    for (const provider of ["openai", "anthropic"]) {
      expect(text).toContain(
        `agent_calls_total{provider="${provider}",outcome="AGENT_REFUSED"} 0\n`,
      );
    }
    expect(text).toContain('runs_reconciled_total{kind="run_without_task"} 0\n');
  });

  it("is missing, not old, while deliveries cannot be measured", async () => {
    const isShown = async () => /^webhook_delivery_lag_seconds /m.test(await registry.metrics());
    const rename = (from: string, to: string) =>
      system.database.query(
        sql.type(z.object({}))`
          alter table ${sql.identifier(["webhooks", from])} rename to ${sql.identifier([to])}
        `,
      );
    await waitFor(isShown);
    await rename("lanes", "lanes_away");
    try {
      await waitFor(async () => !(await isShown()), { what: "no lag", timeoutMs: 60_000 });
    } finally {
      await rename("lanes_away", "lanes");
    }
    await waitFor(isShown, { what: "a lag again", timeoutMs: 60_000 });
  });
});

describe("docs/ops/metrics.md", () => {
  it("names every metric that the service exports, and no other", async () => {
    const page = await readFile(join(ROOT, "docs/ops/metrics.md"), "utf8");
    const named = [...page.matchAll(/^\| `([a-z]\w+)`/gm)].map(([, name = ""]) => name);
    const exported = [...(await exportedNames())].filter((name) => !OF_NODE.test(name));
    expect(named.toSorted()).toEqual(
      [...new Set([...exported, ...WITH_NATS, ...WITH_TLS])].toSorted(),
    );
  });

  it("says what to do about every alert", async () => {
    const page = await readFile(join(ROOT, "docs/ops/metrics.md"), "utf8");
    const rules = await readFile(join(FOLDER, "alerts.yml"), "utf8");
    const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = ""]) => name);
    const named = [...page.matchAll(/^\| `([A-Z]\w+)`/gm)].map(([, name = ""]) => name);
    expect(named.toSorted()).toEqual(alerts.toSorted());
  });

  it("has no company in any label", async () => {
    const text = await registry.metrics();
    expect(text).toContain("gateway_http_request_duration_seconds_count{");
    expect(text).not.toContain(system.acme.id);
    expect(text).not.toMatch(/company(?:_id)?="/);
  });
});
