import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { startHttpDouble } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble } from "@workflow/testkit";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { z } from "zod";
import {
  getDelivery,
  makeEndpoint,
  makeReceived,
  receivedBy,
  signatureOf,
  testEndpoint,
} from "../support/received-webhooks.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const eventTypes = z.array(
  z.strictObject({
    type: z.string(),
    description: z.string().min(1),
    schema: z.record(z.string(), z.unknown()),
    example: z.record(z.string(), z.unknown()),
  }),
);

let system: WholeSystem;
let receiver: HttpDouble;
let answer: DoubleHandler = () => ({});

beforeAll(async () => {
  receiver = await startHttpDouble((request, response) => answer(request, response));
  system = await startWholeSystem();
});
afterAll(async () => {
  await system.stop();
  await receiver.close();
});
beforeEach(() => {
  answer = () => ({});
});

describe("a test", () => {
  it("of every type fits the type's schema, is signed, and carries the endpoint's headers", async () => {
    const { data } = await system.call("GET", "/webhook-event-types");
    const types = eventTypes.parse(data);
    expect(types).toHaveLength(7);
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
    addFormats.default(ajv);
    const endpoint = await makeReceived(system, receiver, {
      headers: { Authorization: "Bearer hush-hush-hush" },
    });
    const ids = new Set<string>();
    for (const { type, schema, example } of types) {
      const fits = ajv.compile(schema);
      expect([type, fits(example), fits.errors]).toEqual([type, true, null]);
      const { success, deliveryId } = await testEndpoint(system, endpoint, { eventType: type });
      const sent = receivedBy(receiver, endpoint).at(-1);
      if (sent === undefined) throw new Error("Nothing was sent.");
      const body = z.looseObject({ id: z.string() }).parse(JSON.parse(sent.body));
      expect([type, fits(body), fits.errors]).toEqual([type, true, null]);
      expect(body).toMatchObject({ type, companyId: system.acme.id, test: true });
      expect(sent.headers).toMatchObject({
        "content-type": "application/json",
        authorization: "Bearer hush-hush-hush",
        "x-webhook-id": body.id,
        "webhook-id": body.id,
      });
      expect(sent.headers["x-webhook-signature"]).toContain(signatureOf(endpoint.secret, sent));
      expect(success).toBe(true);
      const shown = await getDelivery(system, endpoint.id, deliveryId);
      expect(shown).toMatchObject({ eventId: body.id, eventType: type, status: "succeeded" });
      expect(shown.request).toMatchObject({ url: endpoint.url, body: sent.body });
      expect(shown.request.headers).toMatchObject({
        Authorization: "••••",
        "X-Webhook-Signature": "••••",
        "webhook-signature": "••••",
        "X-Webhook-ID": body.id,
        "X-Webhook-Timestamp": sent.headers["x-webhook-timestamp"],
      });
      ids.add(body.id);
    }
    expect(ids.size).toBe(types.length);
  });

  it("says what the receiver answered, and counts neither for nor against the endpoint", async () => {
    const endpoint = await makeReceived(system, receiver);
    answer = () => ({ status: 503, body: "come back later" });
    const result = await testEndpoint(system, endpoint);
    expect(result).toMatchObject({
      success: false,
      statusCode: 503,
      responseBody: "come back later",
      error: null,
    });
    const delivery = await getDelivery(system, endpoint.id, result.deliveryId);
    expect(delivery).toMatchObject({
      status: "failed",
      attemptCount: 1,
      maxAttempts: 1,
      nextAttemptAt: null,
      lastStatusCode: 503,
      deliveredAt: null,
      attempts: [{ number: 1, statusCode: 503, responseBody: "come back later" }],
    });
    const { data } = await system.call("GET", `/webhook-endpoints/${endpoint.id}`);
    expect(data).toMatchObject({ status: "active", consecutiveFailures: 0 });
    const retry = `/webhook-endpoints/${endpoint.id}/deliveries/${result.deliveryId}/retry`;
    const retried = await system.call("POST", retry);
    expect(retried).toMatchObject({ status: 400, error: { code: "INVALID_STATE" } });
  });

  it("says so when nobody answers, when a redirect comes, and when the endpoint is disabled", async () => {
    const dead = await makeEndpoint(system, system.acme.key);
    expect(await testEndpoint(system, dead)).toMatchObject({
      success: false,
      statusCode: null,
      responseBody: null,
    });
    const endpoint = await makeReceived(system, receiver, { name: "Moved" });
    answer = () => ({ status: 307, headers: { location: `${receiver.url}/elsewhere` } });
    expect(await testEndpoint(system, endpoint)).toMatchObject({ success: false, statusCode: 307 });
    expect(receiver.requests.some(({ path }) => path === "/elsewhere")).toBe(false);
    answer = () => ({});
    const path = `/webhook-endpoints/${endpoint.id}`;
    await system.call("PUT", path, { body: { status: "disabled" } });
    expect(await testEndpoint(system, endpoint)).toMatchObject({ success: true, statusCode: 200 });
  });

  it("keeps 4 KiB of an endless answer, and no secret that the receiver sends back", async () => {
    const endpoint = await makeReceived(system, receiver, {
      headers: { "x-token": "hush-hush-hush" },
    });
    answer = async (request, response) => {
      response.write(`${String(request.headers["x-token"])} ${endpoint.secret} `);
      while (!response.destroyed) {
        response.write("x".repeat(65_536));
        await pause(1);
      }
    };
    const result = await testEndpoint(system, endpoint);
    expect(result.statusCode).toBe(200);
    expect(Buffer.byteLength(result.responseBody ?? "")).toBeLessThanOrEqual(4_096);
    const whole = JSON.stringify(await getDelivery(system, endpoint.id, result.deliveryId));
    for (const text of [JSON.stringify(result), whole]) {
      expect(text).not.toContain("hush-hush-hush");
      expect(text).not.toContain(endpoint.secret);
    }
  });

  it("shows no signature that the receiver sends back, in whatever form", async () => {
    const { key } = system.globex;
    const url = `${receiver.url}/${newUuid()}`;
    const endpoint = await makeEndpoint(system, key, { url });
    const path = `/webhook-endpoints/${endpoint.id}`;
    await system.call("POST", `${path}/rotate-secret`, { key });
    answer = ({ headers }) => ({ body: JSON.stringify(headers).replaceAll("/", "\\/") });
    const tested = await system.call("POST", `${path}/test`, { key });
    const sent = receivedBy(receiver, endpoint).at(-1)?.headers ?? {};
    const own = String(sent["x-webhook-signature"]).split(",v1=").slice(1);
    const standard = String(sent["webhook-signature"]).split(/ ?v1,/).slice(1);
    expect([own.length, standard.length]).toEqual([2, 2]);
    const { deliveryId } = z.object({ deliveryId: z.string() }).parse(tested.data);
    const delivery = await system.call("GET", `${path}/deliveries/${deliveryId}`, { key });
    for (const { text } of [tested, delivery]) {
      expect(text).toContain("••••");
      const plain = text.replaceAll("\\", "");
      for (const digest of [...own, ...standard]) expect(plain).not.toContain(digest);
    }
  });

  it("of an unknown type is refused, and names the known ones", async () => {
    const { id } = await makeReceived(system, receiver);
    const body = { eventType: "workflow.paused" };
    const { status, error } = await system.call("POST", `/webhook-endpoints/${id}/test`, { body });
    expect([status, error?.code]).toEqual([400, "BAD_REQUEST"]);
    expect(error?.details).toMatchObject([{ path: ["eventType"] }]);
    expect(error?.message).toContain("workflow.checkpoint");
  });

  it("of an empty type is refused, rather than sent with the default one", async () => {
    const { id } = await makeReceived(system, receiver);
    const body = { eventType: "" };
    expect(await system.call("POST", `/webhook-endpoints/${id}/test`, { body })).toMatchObject({
      status: 400,
      error: { code: "BAD_REQUEST", details: [{ path: ["eventType"] }] },
    });
  });
});
