import { once } from "node:events";
import { IncomingMessage, request as sendRequest } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { startHttpDouble, startOtlpCollector } from "@workflow/testkit";
import type { HttpDouble, OtlpCollector } from "@workflow/testkit";
import { z } from "zod";
import { createActive, postRun, runIdOf, transform, waitForRun } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let collector: OtlpCollector;
let receiver: HttpDouble;

beforeAll(async () => {
  collector = await startOtlpCollector();
  receiver = await startHttpDouble();
});
afterAll(async () => {
  await collector.close();
  await receiver.close();
});

const UNRECORDED = "e".repeat(32);

function request(path: string): Record<string, unknown> {
  const config = { method: "POST", url: `${receiver.url}${path}`, body: {} };
  return { id: "call", type: "action", name: "call", action: "http.request", config };
}

describe("requests that share a call", () => {
  let callersDecide: WholeSystem;
  beforeAll(async () => {
    callersDecide = await startWholeSystem({
      tracing: { endpoint: collector.url, sampler: "parentbased_always_off", ratio: 0 },
    });
  });
  afterAll(() => callersDecide.stop());

  it("are recorded only where their callers chose so", async () => {
    const workflowId = await createActive(callersDecide, { steps: [transform("out", 1)] });
    const STARTS = 20;
    const chosen = "9".repeat(32);
    const starts = Array.from({ length: STARTS }, (_, place) =>
      [
        `POST /api/v1/workflows/${workflowId}/run HTTP/1.1`,
        "host: workflows.example",
        `x-api-key: ${callersDecide.acme.key}`,
        "content-type: application/json",
        "content-length: 2",
        ...(place === 7 ? [`traceparent: 00-${chosen}-${"8".repeat(16)}-01`] : []),
        ...(place === STARTS - 1 ? ["connection: close"] : []),
        "",
        "{}",
      ].join("\r\n"),
    );
    const answers = await pipeline(callersDecide.origin, starts);
    expect(answers.match(/HTTP\/1\.1 202 /g)).toHaveLength(STARTS);
    const rows = await callersDecide.database.any(
      sql.type(
        z.object({ traceparent: z.string().nullable() }),
      )`select traceparent from runs.runs where workflow_id = ${workflowId}`,
    );
    expect(rows).toHaveLength(STARTS);
    const kept = rows.flatMap(({ traceparent }) => traceparent ?? []);
    expect(kept.map((traceparent) => traceparent.slice(3, 35))).toEqual([chosen]);
  });
});

describe("a request whose trace is not recorded", () => {
  it("is not recorded because its line has another form", async () => {
    const quiet = await startWholeSystem({
      tracing: { endpoint: collector.url, sampler: "traceidratio", ratio: 0 },
    });
    const forced = "7".repeat(32);
    const lines = [
      "http://any.example/api/v1/workflows",
      "/%61pi/v1/workflows",
      "/api/v1/workflows",
    ];
    try {
      for (const line of lines) {
        const { port, hostname } = new URL(quiet.origin);
        const asked = sendRequest({
          port,
          hostname,
          path: line,
          headers: {
            "x-api-key": quiet.acme.key,
            traceparent: `00-${forced}-${"8".repeat(16)}-01`,
          },
        }).end();
        const [answer] = z
          .tuple([z.instanceof(IncomingMessage)])
          .parse(await once(asked, "response"));
        await text(answer);
      }
    } finally {
      await quiet.stop();
    }
    expect(collector.spans().filter(({ traceId }) => traceId === forced)).toEqual([]);
  });

  it("leaves no span, nothing with the run, nothing in requests outside", async () => {
    const quiet = await startWholeSystem({
      tracing: { endpoint: collector.url, sampler: "traceidratio", ratio: 0 },
    });
    try {
      const workflowId = await createActive(quiet, { steps: [request("/quiet")] });
      const headers = { traceparent: `00-${UNRECORDED}-${"f".repeat(16)}-01` };
      const runId = runIdOf(await postRun(quiet, workflowId, {}, { headers }));
      await waitForRun(quiet, runId);
      const [sent] = receiver.requests.filter(({ path }) => path.startsWith("/quiet"));
      expect(sent?.headers).not.toHaveProperty("traceparent");
      const row = await quiet.database.one(
        sql.type(
          z.object({ traceparent: z.string().nullable() }),
        )`select traceparent from runs.runs where id = ${runId}`,
      );
      expect(row).toEqual({ traceparent: null });
    } finally {
      await quiet.stop();
    }
    // A system that stops has sent all its spans.
    expect(collector.spans().filter(({ traceId }) => traceId === UNRECORDED)).toEqual([]);
  });
});

/** Sends requests at once on one connection, which the last one closes; returns all that is answered. */
async function pipeline(origin: string, requests: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.write(requests.join(""));
  const answers: Buffer[] = [];
  for await (const chunk of socket) answers.push(z.instanceof(Buffer).parse(chunk));
  return Buffer.concat(answers).toString();
}
