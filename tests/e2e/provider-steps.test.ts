import { once } from "node:events";
import { describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import type { DoubleHandler } from "@workflow/testkit";
import { createActive, postRun, runIdOf, runToEnd, waitForRun } from "../support/scenarios.ts";
import { createContact, input, KEY, sendEmail, useResend } from "../support/resend-steps.ts";

const resend = useResend();

describe("a step with a provider's action", () => {
  it("calls it with the connection that it names; the output is what the action returns", async () => {
    const connectionId = await resend.connect();
    const ended = await resend.run([createContact({ connectionId, first_name: "Ada" })]);
    expect(ended).toMatchObject({
      status: "completed",
      output: { object: "contact", id: "c_1" },
      stepResults: [{ input: { email: "ada@example.com", first_name: "Ada" }, attempt: 1 }],
    });
    const { method, path, headers, body, idempotencyKey } = resend.onlyRequest();
    expect([method, path]).toEqual(["POST", "/resend/contacts"]);
    expect(headers.authorization).toBe(`Bearer ${KEY}`);
    expect(JSON.parse(body)).toEqual({ email: "ada@example.com", first_name: "Ada" });
    expect(idempotencyKey).toBeNull();
  });

  it("takes the run's connection where it names none, and tells who could be meant without any", async () => {
    const [one, two] = [
      await resend.connect("re_canary_one"),
      await resend.connect("re_canary_two"),
    ];
    const workflowId = await createActive(resend.system, { steps: [createContact({})] });
    const started = await postRun(resend.system, workflowId, { input, connectionId: two });
    expect((await waitForRun(resend.system, runIdOf(started))).status).toBe("completed");
    expect(resend.onlyRequest().headers.authorization).toBe("Bearer re_canary_two");
    const failed = await runToEnd(resend.system, workflowId, input);
    expect(failed.stepResults[0]?.error).toMatchObject({
      code: "CONNECTION_REQUIRED",
      details: {
        provider: "resend",
        candidates: expect.arrayContaining([
          expect.objectContaining({ id: one }),
          expect.objectContaining({ id: two }),
        ]),
      },
    });
  });

  it("fails once its connection was deleted", async () => {
    const connectionId = await resend.connect();
    const workflowId = await createActive(resend.system, {
      steps: [createContact({ connectionId })],
    });
    const deleted = await resend.system.call("DELETE", `/connections/${connectionId}`);
    expect(deleted.status).toBe(200);
    const error = await waitFor(async () => {
      const { stepResults } = await runToEnd(resend.system, workflowId, input);
      return stepResults[0]?.error ?? null;
    });
    expect(error.code).toMatch(/^CONNECTION_NOT_(FOUND|ACTIVE)$/);
  });

  it("has its inputs checked again when templates have values", async () => {
    const connectionId = await resend.connect();
    const ended = await resend.run([createContact({ connectionId })], { email: "" });
    expect(ended.stepResults[0]?.error).toMatchObject({
      code: "INVALID_INPUT",
      details: { problems: [{ path: ["email"], message: "is required" }] },
    });
    expect(resend.server.requests).toEqual([]);
  });

  it("tells what the provider said, and is tried again where that may help", async () => {
    const connectionId = await resend.connect();
    let asked = 0;
    resend.handler = () => {
      asked += 1;
      if (asked === 1) return { status: 503, body: { name: "unavailable", message: "Later" } };
      return { status: 422, body: { name: "validation_error", message: "Not like this" } };
    };
    const retry = { maxAttempts: 4, backoff: "fixed", delayMs: 1, maxDelayMs: 1, jitter: false };
    const ended = await resend.run([createContact({ connectionId }, { retry })]);
    const failure = { provider: "resend", connectionId };
    expect(ended.stepResults[0]).toMatchObject({
      attempt: 2,
      error: {
        code: "PROVIDER_ERROR",
        message: "Resend: Not like this",
        details: {
          ...failure,
          status: 422,
          code: "validation_error",
          message: "Not like this",
          retryable: false,
        },
      },
      previousAttempts: [{ error: { details: { ...failure, status: 503, retryable: true } } }],
    });
  });

  it("keeps its key after an answer that leaves open what became of the call", async () => {
    const connectionId = await resend.connect();
    const answers = [{ status: 502, body: { message: "Bad gateway" } }, { body: { id: "c_1" } }];
    resend.handler = () => answers.shift() ?? { status: 500 };
    const retry = { maxAttempts: 2, backoff: "fixed", delayMs: 1, maxDelayMs: 1, jitter: false };
    const ended = await resend.run([sendEmail({ connectionId }, { retry })]);
    expect(ended).toMatchObject({ status: "completed", stepResults: [{ attempt: 2 }] });
    const key = `${ended.id}:call:1`;
    expect(resend.server.requests.map(({ idempotencyKey }) => idempotencyKey)).toEqual([key, key]);
  });

  it("gives the call up with its run", async () => {
    const connectionId = await resend.connect();
    let hungUp: Promise<unknown> | undefined;
    resend.handler = async (_, response) => {
      hungUp = once(response, "close");
      await hungUp;
    };
    const workflowId = await createActive(resend.system, {
      steps: [createContact({ connectionId })],
    });
    const id = runIdOf(await postRun(resend.system, workflowId, { input }));
    await waitFor(() => hungUp !== undefined);
    expect((await resend.system.call("POST", `/runs/${id}/cancel`)).status).toBe(200);
    await hungUp;
    expect((await waitForRun(resend.system, id)).status).toBe("cancelled");
  });

  it("keeps secrets out of what is stored, and bound ones with their hosts (D66)", async () => {
    const connectionId = await resend.connect();
    const config = { connectionId, first_name: "{{secrets.NAME}}" };
    const workflowId = await createActive(resend.system, { steps: [createContact(config)] });
    const store = (body: object) =>
      resend.system.call("POST", `/workflows/${workflowId}/secrets`, { body });
    await store({ key: "NAME", value: "canary-name" });
    resend.handler = ({ body }) => ({ body: { id: "c_1", echo: JSON.parse(body) } });
    const ended = await runToEnd(resend.system, workflowId, input);
    expect(JSON.parse(resend.server.requests[0]?.body ?? "").first_name).toBe("canary-name");
    expect(ended.stepResults[0]).toMatchObject({
      input: { first_name: "••••" },
      output: { echo: { first_name: "••••" } },
    });
    const bind = (allowedHosts: string[]) =>
      resend.system.call("PUT", `/workflows/${workflowId}/secrets/NAME`, {
        body: { value: "canary-name", allowedHosts },
      });
    expect((await bind(["api.example.com"])).status).toBe(200);
    resend.server.requests.length = 0;
    const refused = await runToEnd(resend.system, workflowId, input);
    expect(refused.stepResults[0]?.error?.code).toBe("SECRET_HOST_NOT_ALLOWED");
    expect(resend.server.requests).toEqual([]);
    expect((await bind(["127.0.0.1"])).status).toBe(200);
    expect((await runToEnd(resend.system, workflowId, input)).status).toBe("completed");
  });
});

describe("a provider's words", () => {
  it("are cut before the run's secrets are looked for, and hold no part of one all the same", async () => {
    const connectionId = await resend.connect();
    const secret = "Qz7wX4kP9mV2sT8b";
    const config = { connectionId, first_name: "{{secrets.NAME}}" };
    const workflowId = await createActive(resend.system, { steps: [createContact(config)] });
    const body = { key: "NAME", value: secret };
    await resend.system.call("POST", `/workflows/${workflowId}/secrets`, { body });
    // The code and the message are cut here, right through the secret.
    for (const shown of [4, 8, 15]) {
      resend.handler = () => ({
        status: 422,
        body: {
          name: ".".repeat(100 - shown) + secret,
          message: ".".repeat(1_000 - shown) + secret,
        },
      });
      const { error } = (await runToEnd(resend.system, workflowId, input)).stepResults[0] ?? {};
      expect(error).toMatchObject({
        code: "PROVIDER_ERROR",
        details: {
          code: expect.stringMatching(/^\.+••••$/),
          message: expect.stringMatching(/^\.+••••$/),
        },
      });
      expect(JSON.stringify(error)).not.toContain(secret.slice(0, 4));
    }
  });
});

describe("a provider that is called too often", () => {
  const tooMany = (seconds: number): ReturnType<DoubleHandler> => ({
    status: 429,
    headers: { "retry-after": String(seconds) },
    body: { name: "rate_limit_exceeded", message: "Too many requests" },
  });

  it("is asked again after the pause, which is no attempt", async () => {
    const connectionId = await resend.connect();
    let asked = 0;
    resend.handler = () => {
      asked += 1;
      return asked === 1 ? tooMany(1) : { body: { id: "c_1" } };
    };
    const ended = await resend.run([sendEmail({ connectionId })]);
    expect(ended).toMatchObject({ status: "completed", stepResults: [{ attempt: 1 }] });
    expect(asked).toBe(2);
    const [first, second] = resend.server.requests.map(({ receivedAt }) => receivedAt.getTime());
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(950);
    expect([...resend.server.keyCounts().values()]).toEqual([2]);
  });

  it("holds up neither a step's timeout nor steps with other connections", async () => {
    const [slow, quick] = [
      await resend.connect("re_canary_slow"),
      await resend.connect("re_canary_quick"),
    ];
    resend.handler = ({ headers }) =>
      headers.authorization === "Bearer re_canary_slow" ? tooMany(600) : { body: { id: "c_1" } };
    const waiting = await createActive(resend.system, {
      steps: [createContact({ connectionId: slow })],
    });
    const runs = await Promise.all(
      Array.from({ length: 60 }, () => postRun(resend.system, waiting, { input })),
    );
    // More runs wait than the worker has places, and others go on nevertheless.
    const steps = [createContact({ connectionId: quick })];
    const done = await Promise.all(Array.from({ length: 5 }, () => resend.run(steps)));
    expect(done.map(({ status }) => status)).toEqual(done.map(() => "completed"));
    const timed = await resend.run([createContact({ connectionId: slow }, { timeoutMs: 300 })]);
    expect(timed.stepResults[0]?.error?.code).toBe("TIMEOUT");
    await Promise.all(
      runs.map((started) => resend.system.call("POST", `/runs/${runIdOf(started)}/cancel`)),
    );
  });
});
