import { describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { createActive } from "../support/scenarios.ts";
import { createContact, input, KEY, step, useResend } from "../support/resend-steps.ts";

const resend = useResend();

describe("http.request with a connection", () => {
  const request = (config: object, auth: object) =>
    step("http.request", { method: "GET", ...config, auth: { type: "connection", ...auth } });

  it("is signed like the provider's own actions, and its answer holds no credential", async () => {
    const connectionId = await resend.connect();
    resend.handler = () => ({
      headers: { "x-echo": `Bearer ${KEY}` },
      body: { said: [Buffer.from(KEY).toString("base64"), encodeURIComponent(KEY)] },
    });
    const url = `${resend.server.url}/resend/anything?a=1`;
    const ended = await resend.run([request({ url }, { connectionId, provider: "resend" })]);
    expect(ended.output).toMatchObject({
      status: 200,
      headers: { "x-echo": "Bearer ••••" },
      body: { said: ["••••", "••••"] },
    });
    expect(resend.onlyRequest().headers.authorization).toBe(`Bearer ${KEY}`);
  });

  it("goes to no other host, neither at first nor by a redirect", async () => {
    const connectionId = await resend.connect();
    resend.elsewhere.requests.length = 0;
    const straight = await resend.run([request({ url: resend.elsewhere.url }, { connectionId })]);
    expect(straight.stepResults[0]?.error).toMatchObject({
      code: "CONNECTION_HOST_NOT_ALLOWED",
      details: { provider: "resend", connectionId, host: new URL(resend.elsewhere.url).host },
    });
    resend.handler = () => ({ status: 302, headers: { location: resend.elsewhere.url } });
    const config = { url: `${resend.server.url}/resend/moved`, followRedirects: 3 };
    const moved = await resend.run([request(config, { connectionId })]);
    expect(moved.stepResults[0]?.error?.code).toBe("CONNECTION_HOST_NOT_ALLOWED");
    expect(resend.elsewhere.requests).toEqual([]);
  });

  it("fails without a credential in what is recorded", async () => {
    const connectionId = await resend.connect();
    resend.handler = () => ({ status: 400, body: { message: `no such key: ${KEY}` } });
    const ended = await resend.run([
      request({ url: `${resend.server.url}/resend/x` }, { connectionId }),
    ]);
    const { error } = ended.stepResults[0] ?? {};
    expect(error).toMatchObject({ code: "HTTP_STATUS", details: { status: 400 } });
    expect(JSON.stringify(error)).toContain("no such key: ••••");
  });

  it("waits while the connection is paused, and its own answer pauses it", async () => {
    const connectionId = await resend.connect();
    let asked = 0;
    resend.handler = () => {
      asked += 1;
      if (asked > 1) return { body: {} };
      return { status: 429, headers: { "retry-after": "1" } };
    };
    const ended = await resend.run([
      request({ url: `${resend.server.url}/resend/x` }, { connectionId }),
    ]);
    expect(ended).toMatchObject({ status: "completed", stepResults: [{ attempt: 1 }] });
    expect(asked).toBe(2);
  });

  it("of another company's connection does not exist", async () => {
    const connectionId = await resend.connect(KEY, resend.system.globex);
    const ended = await resend.run([
      request({ url: `${resend.server.url}/resend/x` }, { connectionId }),
    ]);
    expect(ended.stepResults[0]?.error?.code).toBe("CONNECTION_NOT_FOUND");
    expect(resend.server.requests).toEqual([]);
  });
});

describe("a plan", () => {
  it("names providers without an active connection and connections that are not there", async () => {
    const connectionId = await resend.connect();
    const foreign = await resend.connect(KEY, resend.system.globex);
    const steps = [
      { ...createContact({}), id: "any" },
      { ...createContact({ connectionId }), id: "named" },
      { ...createContact({ connectionId: foreign }), id: "foreign" },
      { ...step("slack.findUserByEmail", { email: "a@b.example" }), id: "slack" },
      {
        ...step("http.request", {
          method: "GET",
          url: "https://api.stripe.com",
          auth: { type: "connection", provider: "stripe" },
        }),
        id: "http",
      },
    ];
    const id = await createActive(resend.system, { steps });
    const { data } = await resend.system.call("POST", `/workflows/${id}/plan`, { body: { input } });
    expect(data).toMatchObject({
      missing: {
        connections: ["resend", "slack", "stripe"],
        connectionIds: [foreign],
        choices: [],
      },
    });
  });

  it("names providers of which several are active and none is chosen", async () => {
    const connectionId = await resend.connect();
    await resend.connect();
    const chosen = await createActive(resend.system, { steps: [createContact({ connectionId })] });
    const open = await createActive(resend.system, { steps: [createContact({})] });
    const missingOf = async (id: string): Promise<unknown> => {
      const { data } = await resend.system.call("POST", `/workflows/${id}/plan`, {
        body: { input },
      });
      return z.object({ missing: z.unknown() }).parse(data).missing;
    };
    const none = { secrets: [], connections: [], connectionIds: [], agents: [] };
    expect(await missingOf(chosen)).toEqual({ ...none, choices: [] });
    expect(await missingOf(open)).toEqual({ ...none, choices: ["resend"] });
  });
});
