import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { openDatabase, sql } from "@workflow/db";
import { InboundEventStatus } from "@workflow/proto/webhooks/v1/events";
import { freePort, startLocalNats, waitFor } from "@workflow/testkit";
import { z } from "zod";
import { post, startInboundHarness } from "./support/inbound-harness.ts";
import type { InboundHarness } from "./support/inbound-harness.ts";

const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));

let harness: InboundHarness;
beforeAll(async () => {
  harness = await startInboundHarness();
});
afterAll(async () => {
  await harness?.[Symbol.asyncDispose]();
});

async function startProcess(
  natsUrl: string,
): Promise<{ child: ChildProcess; httpAddress: string }> {
  const httpAddress = `127.0.0.1:${await freePort()}`;
  const child = spawn(process.execPath, [MAIN], {
    stdio: "ignore",
    env: {
      ...harness.environment,
      NATS_URL: natsUrl,
      WEBHOOKS_GRPC_ADDR: `127.0.0.1:${await freePort()}`,
      WEBHOOKS_HTTP_ADDR: httpAddress,
      METRICS_PORT: "0",
    },
  });
  await waitFor(async () => (await fetch(`http://${httpAddress}/webhooks/`)).status === 404);
  return { child, httpAddress };
}

describe("a process that is killed", () => {
  it("between any two steps loses nothing and starts nothing twice", async () => {
    const nats = await startLocalNats();
    const { child, httpAddress } = await startProcess(nats.url);
    try {
      const [unstarted, unsettled] = [randomUUID(), randomUUID()];
      const heard = new Set<string>();
      let isDead = false;
      const holdFor = (companyId: string) => async (events: readonly { companyId: string }[]) => {
        if (isDead || !events.some((event) => event.companyId === companyId)) return;
        heard.add(companyId);
        // Its caller will be dead when this ends; the runs of `unstarted` are never started by it.
        await waitFor(() => isDead);
        throw new Error("nobody hears this");
      };
      harness.runs.entrance = holdFor(unstarted);
      harness.runs.gate = holdFor(unsettled);
      const body = '{"a":1}';
      const posts = [unstarted, unsettled].map((companyId) =>
        post(httpAddress, `custom/${companyId}/hook`, body).catch(() => null),
      );
      await waitFor(() => heard.size === 2);
      child.kill("SIGKILL");
      await once(child, "exit");
      isDead = true;
      // A sender that has waited for 5 s was answered before.
      await Promise.all(posts);
      for (const companyId of [unstarted, unsettled]) {
        const event = await waitFor(async () => {
          const [first] = await harness.list(companyId);
          return first?.status === InboundEventStatus.PROCESSED ? first : null;
        });
        expect(event.workflowsTriggered).toEqual(harness.runs.started.get(event.id));
        expect(harness.runs.runCount((one) => one.companyId === companyId)).toBe(1);
      }
    } finally {
      child.kill("SIGKILL");
      await nats.stop();
    }
  });
});

describe("a company with 10,000 events that wait", () => {
  it("is asked to come later, and no other one", async () => {
    const companyId = randomUUID();
    const database = await openDatabase({
      connectionUri: harness.databaseUrl,
      applicationName: "test",
    });
    await database.query(sql.type(z.object({}))`
      insert into webhooks.inbound_events (
        id, company_id, provider, account_ids, payload_bytes, signature_verified, status, due_at
      )
      select webhooks.id_at('evt_', now()) || lpad(place::text, 16, '0'), ${companyId}, 'custom',
        '{}', 2, 'skipped', 'received', now() + interval '1 hour'
      from generate_series(1, 10000) as place
    `);
    await database.end();
    const refused = await waitFor(async () => {
      const answer = await harness.post(`custom/${companyId}/hook`, "{}");
      return answer.status === 429 ? answer : null;
    });
    expect(refused.body).toEqual({ error: expect.stringContaining("try again later") });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await harness.post(`custom/${randomUUID()}/hook`, "{}")).status).toBe(200);
  });
});
