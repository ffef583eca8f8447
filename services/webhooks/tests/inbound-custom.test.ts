import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { InboundEventStatus, SignatureVerified } from "@workflow/proto/webhooks/v1/events";
import { waitFor } from "@workflow/testkit";
import { ANY_EVENT, callerOf, startInboundHarness } from "./support/inbound-harness.ts";
import type { InboundHarness } from "./support/inbound-harness.ts";

let harness: InboundHarness;
beforeAll(async () => {
  harness = await startInboundHarness();
});
afterAll(async () => {
  await harness?.[Symbol.asyncDispose]();
});

function receivedFor(companyId: string) {
  return harness.runs.received.filter((event) => event.companyId === companyId);
}

/** The answer to bytes that are no request of a usual client. */
function sendRaw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const [host = "", port = ""] = harness.httpAddress.split(":");
    let answer = "";
    const socket = connect(Number(port), host, () => socket.write(text));
    socket.setEncoding("utf8");
    socket.on("data", (chunk) => {
      answer += String(chunk);
      if (answer.endsWith("}")) socket.end();
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", (error) => (answer === "" ? reject(error) : resolve(answer)));
  });
}

describe("the custom route", () => {
  it("starts a run of what was sent, byte by byte, and answers how many", async () => {
    const companyId = randomUUID();
    const body = '{"amount": 12345678901234567890.10, "__proto__": {"a": 1}, "b": 1.0}';
    const answer = await harness.post(
      `custom/${companyId.toUpperCase()}/My%2DHook?a=1&b=2&b=3`,
      body,
      {
        "content-type": "text/plain",
        authorization: "Bearer secret-1",
        cookie: "session=secret-2",
        "x-gitlab-token": "secret-3",
        "x-auth-key": "secret-4",
        api_key: "secret-5",
        "x-jwt": "secret-6",
        "x-author": "Ada",
        "x-kind": "order",
        "x-signature": "for the workflow to check",
      },
    );
    expect(answer).toMatchObject({ status: 200, body: { received: true, workflowsTriggered: 1 } });
    const [event, ...others] = receivedFor(companyId);
    expect(others).toEqual([]);
    expect(event?.source).toEqual({ $case: "path", value: "My-Hook" });
    expect(event?.inputJson).toBe(body);
    expect(event?.triggerJson).not.toContain("secret-");
    expect(JSON.parse(event?.triggerJson ?? "")).toMatchObject({
      eventId: answer.body["eventId"],
      provider: "custom",
      query: { a: "1", b: ["2", "3"] },
      headers: { "x-author": "Ada", "x-kind": "order", "x-signature": "for the workflow to check" },
    });
  });

  it("keeps an event with its runs, for its company alone", async () => {
    const companyId = randomUUID();
    const { body } = await harness.post(`custom/${companyId}/orders`, '{"n": 1}');
    const eventId = String(body["eventId"]);
    const event = await harness.get(companyId, eventId);
    expect(event).toMatchObject({
      provider: "custom",
      status: InboundEventStatus.PROCESSED,
      signatureVerified: SignatureVerified.SKIPPED,
      payloadJson: '{"n": 1}',
      workflowsTriggered: harness.runs.started.get(eventId),
    });
    expect(await harness.list(companyId)).toHaveLength(1);
    const stranger = harness.get(randomUUID(), eventId);
    await expect(stranger).rejects.toMatchObject({ reason: "NOT_FOUND" });
  });

  it.each([
    ["no JSON", "hello", '{"rawBody":"hello"}'],
    ["an array", '[1, "a"]', '[1, "a"]'],
    ["a text", '"a"', '"a"'],
    ["a number", "1.50", "1.50"],
    ["a truth value", "false", "false"],
    ["null", "null", "null"],
    ["half an array", "[1", '{"rawBody":"[1"}'],
    ["20,000 levels", `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`, null],
    ["an escaped NUL", '{"a":"\\u0000"}', '{"rawBody":"{\\"a\\":\\"\\\\u0000\\"}"}'],
    ["nothing", "", "{}"],
  ])("takes a body of %s as what it says", async (_what, sent, input) => {
    const companyId = randomUUID();
    const answer = await harness.post(`custom/${companyId}/any`, sent);
    expect(answer).toMatchObject({ status: 200, body: { workflowsTriggered: 1 } });
    const expected = input ?? JSON.stringify({ rawBody: sent });
    expect(receivedFor(companyId)[0]?.inputJson).toBe(expected);
    const event = await harness.get(companyId, String(answer.body["eventId"]));
    expect(event.payloadJson).toBe(expected);
  });

  it.each<[string, string, string | Buffer, Record<string, string>, number]>([
    ["bytes that are no text", "hook", Buffer.from([0xff, 0xfe]), {}, 400],
    ["a NUL", "hook", Buffer.from("a\0b"), {}, 400],
    ["more than 1 MiB", "hook", "a".repeat(1024 * 1024 + 1), {}, 413],
    ["what is more than 1 MiB as JSON", "hook", '"'.repeat(700_000), {}, 413],
    ["a compressed body", "hook", "{}", { "content-encoding": "gzip" }, 415],
    ["a key of 256 characters", "hook", "{}", { "idempotency-key": "k".repeat(256) }, 400],
    ["a NUL in the query", "hook?a=%00", "{}", {}, 400],
    ["a path that is not encoded rightly", "%ff", "{}", {}, 404],
    ["no path", "", "{}", {}, 404],
    ["two paths", "a/b", "{}", {}, 404],
    ["a path that no trigger can have", "p".repeat(256), "{}", {}, 404],
  ])("refuses %s and keeps nothing", async (_what, path, sent, headers, status) => {
    const companyId = randomUUID();
    const answer = await harness.post(`custom/${companyId}/${path}`, sent, headers);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({ error: expect.any(String) });
    expect(await harness.list(companyId)).toEqual([]);
  });

  it("answers plainly what is no webhook at all", async () => {
    expect(await harness.post("custom/not-a-company/hook", "{}")).toMatchObject({ status: 404 });
    expect(await harness.post("nobody%22", "{}")).toMatchObject({
      status: 404,
      body: { error: 'Unknown provider: nobody"' },
    });
    const read = await fetch(`http://${harness.httpAddress}/webhooks/stripe`);
    expect([read.status, read.headers.get("allow")]).toEqual([405, "POST"]);
    const many = Array.from({ length: 10_000 }, (_, place) => `x-${place}: 1\r\n`).join("");
    expect(await sendRaw(`POST /webhooks/stripe HTTP/1.1\r\nhost: a\r\n${many}\r\n`)).toMatch(
      /^HTTP\/1\.1 431 .*\{"error":".*"\}$/s,
    );
    expect(await sendRaw("nonsense\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 .*\{"error":".*"\}$/s);
    const twice = `POST /webhooks/custom/${randomUUID()}/a HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n`;
    expect(await sendRaw(`${twice}x-event-id: 1\r\nx-event-id: 2\r\n\r\n{}`)).toMatch(
      /^HTTP\/1\.1 400 .*x-event-id must be sent once/s,
    );
  });

  it("takes events of an address while senders of another one stall", async () => {
    const [host = "", port = ""] = harness.httpAddress.split(":");
    const head = `POST /webhooks/custom/${randomUUID()}/a HTTP/1.1\r\nhost: a\r\nx-forwarded-for: 192.0.2.1\r\ncontent-length: 1048576\r\n\r\n{`;
    let ended = 0;
    const stalled = Array.from({ length: 40 }, () => {
      const socket = connect(Number(port), host, () => socket.write(head));
      return socket.on("data", () => (ended += 1)).on("error", () => {});
    });
    await Promise.all(stalled.map((socket) => once(socket, "ready")));
    const companyId = randomUUID();
    const headers = { "x-forwarded-for": "192.0.2.2" };
    const answer = await harness.post(`custom/${companyId}/a`, "{}", headers);
    // No sender was given up for lack of time, so the answer did not wait for that.
    expect([answer.status, ended]).toEqual([200, 0]);
    for (const socket of stalled) socket.destroy();
  });

  it("reads and throws away what is too long, so that its sender gets to read why", async () => {
    const head = `POST /webhooks/custom/${randomUUID()}/a HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n`;
    const chunk = `100000\r\n${"a".repeat(0x100000)}\r\n`;
    expect(await sendRaw(`${head}${chunk.repeat(20)}`)).toMatch(/^HTTP\/1\.1 413 /);
  });
});

describe("the list of events", () => {
  it("pages newest first and filters", async () => {
    const companyId = randomUUID();
    const sent: string[] = [];
    for (let place = 0; place < 3; place += 1) {
      const { body } = await harness.post(`custom/${companyId}/h`, "{}");
      sent.unshift(String(body["eventId"]));
    }
    const call = callerOf(companyId);
    const filter = { ...ANY_EVENT, provider: "custom" };
    const listed: string[] = [];
    let cursor = "";
    do {
      const request = { ...filter, page: { limit: 1, cursor }, createdAfter: new Date(0) };
      const { events, page } = await harness.events.listInboundEvents(request, call);
      listed.push(...events.map(({ id }) => id));
      cursor = page?.cursor ?? "";
    } while (cursor !== "");
    expect(listed).toEqual(sent);
    const page = { limit: 100, cursor: "" };
    const failed = { ...filter, status: InboundEventStatus.FAILED, page };
    expect((await harness.events.listInboundEvents(failed, call)).events).toEqual([]);
    const tooMany = { ...filter, page: { limit: 101, cursor: "" } };
    await expect(harness.events.listInboundEvents(tooMany, call)).rejects.toMatchObject({
      reason: "BAD_REQUEST",
    });
    for (const year of [0, 10_000]) {
      const createdBefore = new Date(new Date(0).setUTCFullYear(year));
      const far = { ...filter, page, createdBefore };
      await expect(harness.events.listInboundEvents(far, call)).rejects.toMatchObject({
        reason: "BAD_REQUEST",
        violations: [{ path: ["createdBefore"] }],
      });
    }
  });
});

describe("a service that stops", () => {
  it("answers what is under way, and waits for nobody who has asked for nothing", async () => {
    const service = await harness.startAnother();
    const [host = "", port = ""] = service.httpAddress.split(":");
    const open = async (text: string) => {
      const socket = connect({ host, port: Number(port), allowHalfOpen: true });
      const client = { socket, received: "", isEnded: false };
      socket.setEncoding("utf8");
      socket.on("data", (chunk) => (client.received += String(chunk)));
      socket.on("end", () => (client.isEnded = true));
      socket.on("error", () => {});
      await once(socket, "connect");
      socket.write(text);
      return client;
    };
    const begun = await open("POST /webhooks/custom HTTP/1.1\r\nHost: x\r\nX-Long: ");
    const path = `/webhooks/custom/${randomUUID()}/hook`;
    const asking = await open(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n`,
    );
    await waitFor(() => asking.received.startsWith("HTTP/1.1 100 "));
    const stopped = service.stop();
    await waitFor(() => begun.isEnded);
    asking.socket.write("{}");
    await waitFor(() => asking.isEnded);
    await stopped;
    expect(asking.received).toContain("HTTP/1.1 200 ");
    for (const { socket } of [begun, asking]) socket.destroy();
  });
});
