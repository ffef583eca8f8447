import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { startHttpDouble, startNangoDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble, NangoDouble } from "@workflow/testkit";
import { z } from "zod";
import { makeFinanceConnection } from "../support/connections.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let api: HttpDouble;
let nango: NangoDouble;
let system: WholeSystem;
const nothing = z.object({});

beforeAll(async () => {
  api = await startHttpDouble(() => ({ body: { ok: true, team_id: "T1", user_id: "U1" } }));
  nango = await startNangoDouble(["slack"]);
  system = await startWholeSystem({
    connecting: {
      broker: { baseUrl: nango.url, secretKey: nango.secretKey },
      providers: new Map([["slack", { baseUrl: api.url }]]),
    },
  });
});
afterAll(async () => {
  await system?.stop();
  for (const double of [api, nango]) await double?.close();
});
beforeEach(async () => {
  nango.trouble = null;
  nango.connections.length = 0;
  await system.database.query(sql.type(nothing)`delete from integrations.connections`);
  await system.database.query(sql.type(nothing)`delete from integrations.broker_leftovers`);
});

const begun = z.looseObject({ connectionId: z.string(), authUrl: z.url() });

/** Somebody has got the broker's link of a new attempt. */
async function beginLinked() {
  const { data } = await system.call("GET", "/connections/slack/auth-url");
  const { connectionId, authUrl } = begun.parse(data);
  const response = await fetch(`${authUrl}/go`, { redirect: "manual" });
  expect(response.status).toBe(302);
  return { connectionId, authUrl, link: response.headers.get("location") ?? "" };
}

async function end(connectionId: string): Promise<void> {
  const answer = await system.call("DELETE", `/connections/${connectionId}`);
  expect(answer).toMatchObject({ status: 200 });
}

/** Those who remove accounts look around when any connection is deleted. */
async function wake(): Promise<void> {
  await end(await makeFinanceConnection(system, system.acme.key));
}

/**
 * Waits for what comes of it that an hour has passed since links were handed out. Who looks at an attempt at
 * the same moment may put it off once more, so time passes again until it has.
 */
async function afterLinksEnd(check: () => unknown): Promise<void> {
  const pass = async () => {
    await system.database.query(sql.type(nothing)`
      update integrations.broker_leftovers set link_ends_at = now(), next_try_at = now()
    `);
    await wake();
    await waitFor(check, { timeoutMs: 1_000 });
  };
  await waitFor(pass, { timeoutMs: 60_000 });
}

const row = z.object({ tries: z.number(), lastError: z.string().nullable(), waits: z.boolean() });

function findLeftover() {
  return system.database.maybeOne(sql.type(row)`
    select tries, last_error as "lastError", next_try_at > now() + interval '5 seconds' as "waits"
    from integrations.broker_leftovers
  `);
}

describe("an account that somebody connects at the broker and does not come back with", () => {
  it("is removed there when its attempt ends, also when it is connected after that", async () => {
    const { connectionId, link } = await beginLinked();
    nango.approve(link);
    await end(connectionId);
    await waitFor(() => expect(nango.connections).toEqual([]));
    // The link still holds for a while.
    await waitFor(async () =>
      expect(await findLeftover()).toMatchObject({ tries: 0, waits: true }),
    );
    nango.approve(link);
    await afterLinksEnd(async () => expect(await findLeftover()).toBeNull());
    expect(nango.connections).toEqual([]);
  });

  it("is removed when a newer attempt takes the place of its own, and when it was abandoned", async () => {
    const first = await beginLinked();
    await system.database.query(sql.type(nothing)`
      update integrations.connections set status = 'expired' where id = ${first.connectionId}
    `);
    nango.approve(first.link);
    const second = await beginLinked();
    expect(second.connectionId).toBe(first.connectionId);
    const kept = nango.approve(second.link);
    await wake();
    await waitFor(() => expect(nango.connections).toEqual([kept]));

    await system.database.query(sql.type(nothing)`
      update integrations.authorization_attempts
      set state = 'abandoned', ended_at = now()
      where state = 'open'
    `);
    await afterLinksEnd(() => expect(nango.connections).toEqual([]));
  });

  it("stays while its attempt is open", async () => {
    const { connectionId, link, authUrl } = await beginLinked();
    nango.approve(link);
    await afterLinksEnd(async () =>
      expect(await findLeftover()).toMatchObject({ tries: 0, waits: true }),
    );
    expect(nango.connections).toHaveLength(1);
    const status = await fetch(`${authUrl}/status`);
    expect(await status.json()).toMatchObject({ data: { state: "ready" } });
    const { origin } = system;
    const back = await fetch(
      `${origin}/api/v1/connections/slack/callback?connectionId=${connectionId}`,
    );
    expect(await back.json()).toMatchObject({ data: { connectionId, status: "active" } });
  });

  it("goes and the connected one stays, when somebody connects a second one", async () => {
    const { connectionId, link } = await beginLinked();
    nango.approve(link);
    const callback = `${system.origin}/api/v1/connections/slack/callback?connectionId=${connectionId}`;
    expect((await fetch(callback)).status).toBe(200);
    const [used] = nango.connections;
    nango.approve(link);
    await afterLinksEnd(async () => expect(await findLeftover()).toBeNull());
    expect(nango.connections).toEqual([used]);
  });

  it("is tried again later while the broker does not answer", async () => {
    const { connectionId, link } = await beginLinked();
    nango.approve(link);
    nango.trouble = "server-error";
    await end(connectionId);
    await waitFor(async () =>
      expect(await findLeftover()).toEqual({
        tries: 1,
        lastError: expect.stringMatching(/broker/),
        waits: true,
      }),
    );
    nango.trouble = null;
    await afterLinksEnd(async () => expect(await findLeftover()).toBeNull());
    expect(nango.connections).toEqual([]);
  });
});

it("links of so many attempts are looked after; another one is refused until then", async () => {
  const { authUrl } = await beginLinked();
  await system.database.query(sql.type(nothing)`
    insert into integrations.broker_leftovers (
      attempt_id, company_id, integration, link_ends_at, next_try_at
    )
    select gen_random_uuid(), ${system.acme.id}, 'slack', now() + interval '1 hour', now() + interval '1 hour'
    from generate_series(1, 999)
  `);
  // Its own link was counted already.
  const again = await fetch(`${authUrl}/go`, { redirect: "manual" });
  expect(again.status).toBe(302);
  const { data } = await system.call("GET", "/connections/slack/auth-url");
  const refused = await fetch(`${begun.parse(data).authUrl}/go`, { redirect: "manual" });
  expect(refused.status).toBe(429);
  expect(refused.headers.get("retry-after")).not.toBeNull();
  expect(await refused.json()).toMatchObject({
    error: { code: "RATE_LIMITED", details: { limit: "linkedAuthorizations", max: 1_000 } },
  });
});

describe("a broker of another age", () => {
  it("that lists everybody's connections, some without tags, is understood", async () => {
    const { connectionId, link } = await beginLinked();
    nango.tagging = "listed";
    try {
      const mine = nango.approve(link);
      nango.connections.unshift({ ...mine, connectionId: "somebody-elses", tags: null });
      const callback = `${system.origin}/api/v1/connections/slack/callback?connectionId=${connectionId}`;
      expect((await fetch(callback)).status).toBe(200);
    } finally {
      nango.tagging = "filtered";
    }
  });

  it("that knows no tags is named, with the setting that leads to it", async () => {
    const { connectionId, link } = await beginLinked();
    nango.approve(link);
    nango.tagging = "unknown";
    try {
      const told = {
        error: { code: "UPSTREAM_ERROR", message: expect.stringMatching(/tags.*NANGO_BASE_URL/) },
      };
      const begins = await system.call("GET", "/connections/slack/auth-url");
      expect(begins).toMatchObject({ status: 502, ...told });
      const callback = `${system.origin}/api/v1/connections/slack/callback?connectionId=${connectionId}`;
      const back = await fetch(callback);
      expect(back.status).toBe(502);
      expect(await back.json()).toMatchObject(told);
    } finally {
      nango.tagging = "filtered";
    }
  });
});
