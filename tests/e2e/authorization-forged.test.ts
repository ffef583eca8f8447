import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { startHttpDouble, startNangoDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble, NangoDouble } from "@workflow/testkit";
import { z } from "zod";
import { comeBack } from "../support/authorizing-system.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const BACK = "https://app.example/";
const nothing = z.object({});
const begun = z.looseObject({ connectionId: z.string(), authUrl: z.url() });

let api: HttpDouble;
let nango: NangoDouble;
let system: WholeSystem;

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
  nango.connections.length = 0;
  await system.database.query(sql.type(nothing)`delete from integrations.connections`);
});

/** An attempt, and the callback that anybody can send who knows the connection's id. */
async function begin(redirectUrl?: string) {
  const query = redirectUrl === undefined ? "" : `?redirectUrl=${encodeURIComponent(redirectUrl)}`;
  const { data } = await system.call("GET", `/connections/slack/auth-url${query}`);
  const { connectionId, authUrl } = begun.parse(data);
  const callback = `${system.origin}/api/v1/connections/slack/callback?connectionId=${connectionId}&success=true`;
  return { connectionId, authUrl, callback };
}

/** A person connects an account at the broker. */
async function connectAtBroker(authUrl: string): Promise<void> {
  const response = await fetch(`${authUrl}/go`, { redirect: "manual" });
  nango.approve(response.headers.get("location") ?? "");
}

async function standingOf(authUrl: string): Promise<unknown> {
  const response = await fetch(`${authUrl}/status`);
  return z.object({ data: z.looseObject({ state: z.string() }) }).parse(await response.json()).data
    .state;
}

async function statusOf(connectionId: string): Promise<unknown> {
  const { data } = await system.call("GET", `/connections/${connectionId}`);
  return z.looseObject({ status: z.string() }).parse(data).status;
}

describe("forged callbacks for the broker", () => {
  it("do not use an attempt up, however many come: the real one succeeds", async () => {
    const { connectionId, authUrl, callback } = await begin();
    // Those of some hours, over all replicas: the most that a smallint counts.
    await system.database.query(sql.type(nothing)`
      update integrations.authorization_attempts set tries = 32767
    `);
    const forged = await Promise.all(Array.from({ length: 30 }, () => comeBack(callback)));
    for (const answer of forged) {
      expect(answer).toMatchObject({
        status: 400,
        body: { error: { code: "BAD_REQUEST", details: { error: "not_confirmed" } } },
      });
    }
    expect(await statusOf(connectionId)).toBe("pending");
    await connectAtBroker(authUrl);
    await waitFor(async () => expect(await standingOf(authUrl)).toBe("ready"));
    expect(await comeBack(callback)).toMatchObject({
      status: 200,
      body: { data: { connectionId, status: "active" } },
    });
    expect(await standingOf(authUrl)).toBe("completed");
  });

  it("do not lend the real one their answer of before", async () => {
    const { authUrl, callback } = await begin();
    expect((await comeBack(callback)).status).toBe(400);
    await connectAtBroker(authUrl);
    expect((await comeBack(callback)).status).toBe(200);
  });
});

describe("a callback for the broker after its connection was disconnected", () => {
  it.each([
    ["without a redirectUrl", undefined],
    ["with one", BACK],
  ])("says so, %s; the page agrees", async (_what, redirectUrl) => {
    const { connectionId, authUrl, callback } = await begin(redirectUrl);
    await connectAtBroker(authUrl);
    expect((await comeBack(callback)).status).toBe(redirectUrl === undefined ? 200 : 302);
    expect(await statusOf(connectionId)).toBe("active");
    await system.call("DELETE", `/connections/${connectionId}`);
    const late = await comeBack(callback);
    if (redirectUrl === undefined) {
      expect(late).toMatchObject({
        status: 400,
        body: { error: { details: { error: "connection_disconnected" } } },
      });
    } else {
      expect(late.location).toBe(
        `${BACK}?error=connection_disconnected&connectionId=${connectionId}`,
      );
    }
    expect(await statusOf(connectionId)).toBe("disconnected");
    expect(await standingOf(authUrl)).toBe("over");
  });
});

it("HEAD of the page's way to the broker makes no link there", async () => {
  const { authUrl } = await begin();
  const before = nango.requests.length;
  const head = await fetch(`${authUrl}/go`, { method: "HEAD", redirect: "manual" });
  expect(head.status).toBe(405);
  expect(head.headers.get("allow")).toBe("GET, OPTIONS");
  expect(nango.requests).toHaveLength(before);
});
