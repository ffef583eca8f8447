import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import {
  startBrowser,
  startHttpDouble,
  startNangoDouble,
  TROUBLES,
  waitFor,
} from "@workflow/testkit";
import type { HttpDouble, NangoDouble } from "@workflow/testkit";
import { z } from "zod";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let api: HttpDouble;
let application: HttpDouble;
let nango: NangoDouble;
let system: WholeSystem;

beforeAll(async () => {
  api = await startHttpDouble(() => ({ body: { ok: true, team_id: "T1", user_id: "U1" } }));
  application = await startHttpDouble(() => ({
    headers: { "content-type": "text/html" },
    body: "<title>Settings</title>",
  }));
  nango = await startNangoDouble(["slack"]);
  system = await startWholeSystem({
    connecting: {
      broker: { baseUrl: nango.url, secretKey: nango.secretKey },
      providers: new Map([["slack", { baseUrl: api.url }]]),
      answerTimeoutMs: 3_000,
    },
  });
});
afterAll(async () => {
  await system?.stop();
  for (const double of [api, application, nango]) await double?.close();
});
beforeEach(async () => {
  nango.trouble = null;
  nango.connections.length = 0;
  await system.database.query(sql.type(z.object({}))`delete from integrations.connections`);
});

const begun = z.looseObject({ connectionId: z.string(), authUrl: z.url(), isNew: z.boolean() });

async function begin(query: Record<string, string> = {}) {
  const path = `/connections/slack/auth-url?${new URLSearchParams(query).toString()}`;
  const answer = await system.call("GET", path);
  expect(answer).toMatchObject({ status: 200, error: undefined });
  return begun.parse(answer.data);
}

async function statusOf(connectionId: string): Promise<string> {
  const { data } = await system.call("GET", `/connections/${connectionId}`);
  return z.looseObject({ status: z.string() }).parse(data).status;
}

/** Where the page sends the person. */
async function connectLinkOf(authUrl: string): Promise<string> {
  const response = await fetch(`${authUrl}/go`, { redirect: "manual" });
  expect(response.status).toBe(302);
  return response.headers.get("location") ?? "";
}

function callbackOf(connectionId: string, more = "&success=true"): string {
  return `${system.origin}/api/v1/connections/slack/callback?connectionId=${connectionId}${more}`;
}

async function comeBack(url: string) {
  const response = await fetch(url, { redirect: "manual" });
  const text = await response.text();
  const body: unknown = text === "" ? null : JSON.parse(text);
  return { status: response.status, location: response.headers.get("location"), body };
}

it("a person is led through the broker and back, in a browser", async () => {
  const browser = await startBrowser();
  try {
    const page = await browser.newPage();
    const problems: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    page.on("pageerror", (error) => problems.push(error.message));
    const { connectionId, authUrl } = await begin({ redirectUrl: `${application.url}/settings` });
    await page.goto(authUrl);
    expect(await page.title()).toBe("Connect Slack");
    // The policy lets the page's own style in, and nothing that stands in its text.
    const background = await page.evaluate(
      "getComputedStyle(document.getElementById('link')).backgroundColor",
    );
    expect(background).toBe("rgb(26, 86, 219)");

    const [broker] = await Promise.all([page.context().waitForEvent("page"), page.click("#link")]);
    await broker.click("#connect");
    await broker.waitForSelector("text=Connected");
    await page.waitForURL(`${application.url}/settings**`);
    const arrived = new URL(page.url());
    expect(Object.fromEntries(arrived.searchParams)).toEqual({
      success: "true",
      provider: "slack",
      connectionId,
    });
    expect(problems).toEqual([]);
    expect(await statusOf(connectionId)).toBe("active");
    // Neither the application nor the broker is told the address of the attempt.
    for (const { headers } of [...application.requests, ...nango.requests]) {
      expect(headers.referer ?? "").not.toContain("/connect/");
    }
  } finally {
    await browser.close();
  }
});

describe("the page", () => {
  it("allows nothing but its own files, and says nothing to those without the token", async () => {
    const { authUrl } = await begin();
    const response = await fetch(authUrl);
    expect(response.status).toBe(200);
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    const html = await response.text();
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style| style=| on[a-z]+=/);
    const { origin } = new URL(authUrl);
    for (const path of [
      "/connect/",
      `/connect/${"A".repeat(43)}`,
      "/connect/x",
      "/connect/assets/no.js",
    ]) {
      const missing = await fetch(origin + path);
      expect({ path, status: missing.status }).toEqual({ path, status: 404 });
      await missing.text();
    }
    expect((await fetch(authUrl, { method: "POST" })).status).toBe(405);
  });

  it("says how the attempt stands", async () => {
    const { authUrl, connectionId } = await begin();
    const ask = async () => {
      const response = await fetch(`${authUrl}/status`);
      return z.object({ data: z.unknown() }).parse(await response.json()).data;
    };
    expect(await ask()).toEqual({ state: "waiting", next: null });
    nango.approve(await connectLinkOf(authUrl));
    const next =
      new URL(callbackOf(connectionId)).pathname + new URL(callbackOf(connectionId)).search;
    await waitFor(async () => expect(await ask()).toEqual({ state: "ready", next }));
    expect((await comeBack(callbackOf(connectionId))).status).toBe(200);
    expect(await ask()).toEqual({ state: "completed", next });
  });
});

describe("a callback for the broker", () => {
  it("is not believed: the broker is asked, and only what came of this attempt counts", async () => {
    const { connectionId } = await begin({ redirectUrl: "https://app.example/" });
    const other = await begin();
    nango.approve(await connectLinkOf(other.authUrl));
    const back = await comeBack(callbackOf(connectionId));
    expect(back.location).toBe(
      `https://app.example/?error=not_confirmed&connectionId=${connectionId}`,
    );
    const cancelled = await comeBack(callbackOf(connectionId, "&success=false&error=closed"));
    expect(cancelled.location).toBe(
      `https://app.example/?error=closed&connectionId=${connectionId}`,
    );
    expect(await statusOf(connectionId)).toBe("pending");
    expect((await comeBack(callbackOf(other.connectionId))).status).toBe(200);
    expect((await comeBack(callbackOf("conn_01jzsa0pjtf9d8m9d8m9d8m9d8"))).status).toBe(404);
  });

  it("that comes again repeats the answer and changes nothing", async () => {
    const { connectionId, authUrl } = await begin({ redirectUrl: "https://app.example/" });
    nango.approve(await connectLinkOf(authUrl));
    const first = await comeBack(callbackOf(connectionId));
    expect(first.location).toContain("success=true");
    const { data } = await system.call("GET", `/connections/${connectionId}`);
    expect(await comeBack(callbackOf(connectionId))).toEqual(first);
    expect((await system.call("GET", `/connections/${connectionId}`)).data).toEqual(data);
  });
});

it("an account that is connected anew or disconnected leaves nothing at the broker", async () => {
  const { connectionId, authUrl } = await begin();
  nango.approve(await connectLinkOf(authUrl));
  await comeBack(callbackOf(connectionId));
  const [first] = nango.connections;
  await system.database.query(sql.type(z.object({}))`
    update integrations.connections set status = 'expired' where id = ${connectionId}
  `);
  const again = await begin();
  expect(again).toMatchObject({ connectionId, isNew: false });
  const second = nango.approve(await connectLinkOf(again.authUrl));
  expect((await comeBack(callbackOf(connectionId))).status).toBe(200);
  expect(await system.call("DELETE", `/connections/${connectionId}`)).toMatchObject({
    status: 200,
  });
  await waitFor(async () => expect(nango.connections).toEqual([]));
  expect(second.connectionId).not.toBe(first?.connectionId);
});

it("POST /connections answers an address that leads through the broker, too", async () => {
  const body = { name: "Team", provider: "slack" };
  const { status, data } = await system.call("POST", "/connections", { body });
  const made = z.looseObject({ id: z.string(), oauthUrl: z.url() }).parse(data);
  expect(status).toBe(201);
  nango.approve(await connectLinkOf(made.oauthUrl));
  expect((await comeBack(callbackOf(made.id))).status).toBe(200);
  expect(await statusOf(made.id)).toBe("active");
});

describe("a broker that cannot be understood", () => {
  it.each(TROUBLES)(
    "%s: auth-url says so and leaves nothing, the page goes on waiting",
    async (trouble) => {
      const { authUrl, connectionId } = await begin();
      nango.approve(await connectLinkOf(authUrl));
      nango.trouble = trouble;
      expect(await system.call("GET", "/connections/slack/auth-url")).toMatchObject({
        status: 502,
        error: { code: "UPSTREAM_ERROR", message: expect.stringContaining("broker") },
      });
      const { data } = await system.call("GET", "/connections");
      expect(z.array(z.looseObject({ id: z.string() })).parse(data)).toHaveLength(1);
      expect((await fetch(`${authUrl}/status`)).status).toBe(200);
      expect(await comeBack(callbackOf(connectionId))).toMatchObject({
        status: 502,
        body: { error: { code: "UPSTREAM_ERROR" } },
      });
      nango.trouble = null;
      expect((await comeBack(callbackOf(connectionId))).status).toBe(200);
    },
  );
});

it("a provider that is not set up at the broker is told", async () => {
  expect(await system.call("GET", "/connections/stripe/auth-url")).toMatchObject({
    status: 502,
    error: { code: "UPSTREAM_ERROR", message: expect.stringMatching(/not set up there/) },
  });
  const body = { name: "Shop", provider: "stripe" };
  expect(await system.call("POST", "/connections", { body })).toMatchObject({
    status: 502,
    error: { code: "UPSTREAM_ERROR", message: expect.stringMatching(/not set up there/) },
  });
});
