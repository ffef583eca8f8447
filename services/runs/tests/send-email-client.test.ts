import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { Reason } from "@workflow/errors";
import { EmailServiceService } from "@workflow/proto/integrations/v1/email";
import type { SendEmailRequest, SendEmailResponse } from "@workflow/proto/integrations/v1/email";
import {
  createRpcServer,
  createTokenSigner,
  createTokenVerifier,
  generateSigningKey,
  readVerificationKey,
  rpc,
} from "@workflow/rpc";
import type { RpcContext, RpcServer } from "@workflow/rpc";
import { freePort } from "@workflow/testkit";
import { pino } from "pino";
import { readEmailMessage } from "../src/email/email-message.ts";
import { createEmailClient } from "../src/email/send-email-client.ts";
import type { EmailClient } from "../src/email/send-email-client.ts";

const key = generateSigningKey();
const tokenSigner = createTokenSigner({ privateKeyPem: key.privateKeyPem });
const message = readEmailMessage({ to: "a@b.example", subject: "Hi", text: "Hello" });
const never = new AbortController().signal;

/** A double of the integrations service. */
let answer: (request: SendEmailRequest, context: RpcContext) => Promise<SendEmailResponse>;
let server: RpcServer;
let client: EmailClient;

beforeAll(async () => {
  server = createRpcServer({
    logger: pino({ level: "silent" }),
    verifier: createTokenVerifier({ publicKeys: [readVerificationKey(key.publicKeyPem)] }),
  });
  server.add(EmailServiceService, {
    sendEmail: rpc({ scopes: "internal:effects", handler: (...call) => answer(...call) }),
  });
  const { address } = await server.listen("127.0.0.1:0");
  client = createEmailClient({ address, tokenSigner });
});

afterAll(async () => {
  client.close();
  await server.close();
});

describe("the way out for e-mail", () => {
  it("sends for the company of the run, under the key of the attempt", async () => {
    const seen: unknown[] = [];
    const outcome = { messageId: "<1@x>", accepted: ["a@b.example"], rejected: ["c@d.example"] };
    answer = (request, { identity }) => {
      seen.push(request, identity.companyId, identity.principal);
      return Promise.resolve(outcome);
    };
    const companyId = newUuid();
    expect(await client.send(companyId, message, "run_1:mail:1", never)).toEqual(outcome);
    expect(seen).toEqual([
      expect.objectContaining({
        idempotencyKey: "run_1:mail:1",
        to: ["a@b.example"],
        text: "Hello",
      }),
      companyId,
      expect.objectContaining({ type: "service", id: "runs" }),
    ]);
  });

  it("keeps the keys of two attempts apart however long they are", async () => {
    const keys: string[] = [];
    answer = ({ idempotencyKey }) => {
      keys.push(idempotencyKey);
      return Promise.resolve({ messageId: "<1@x>", accepted: [], rejected: [] });
    };
    const path = "outer.".repeat(200);
    for (const group of [1, 1, 2]) await client.send(newUuid(), message, `${path}:${group}`, never);
    expect(keys[0]?.length).toBeLessThanOrEqual(500);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });

  it.each([
    ["BAD_REQUEST", { code: "EMAIL_REJECTED", retryable: false }],
    ["NOT_CONFIGURED", { code: "NOT_CONFIGURED", retryable: false }],
    ["UPSTREAM_ERROR", { code: "EMAIL_FAILED", retryable: true, retryAfterMs: 7_000 }],
    ["UNAVAILABLE", { code: "EMAIL_FAILED", retryable: true, retryAfterMs: 7_000 }],
  ] as const)("fails the step when the answer is %s", async (reason: Reason, expected) => {
    answer = () => Promise.reject(new AppError(reason, "No.", { retryAfterMs: 7_000 }));
    await expect(client.send(newUuid(), message, "k", never)).rejects.toMatchObject({
      name: "StepError",
      message: "No.",
      ...expected,
    });
  });

  it("names the fields that the service refused", async () => {
    const violations = [{ path: ["to", "0"], message: "must be one e-mail address" }];
    answer = () => Promise.reject(new AppError("BAD_REQUEST", "No.", { violations }));
    await expect(client.send(newUuid(), message, "k", never)).rejects.toMatchObject({
      details: { problems: violations },
    });
  });

  it("fails the step for now while the service is away", async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const lonely = createEmailClient({ address, tokenSigner });
    await expect(lonely.send(newUuid(), message, "k", never)).rejects.toMatchObject({
      code: "EMAIL_FAILED",
      retryable: true,
    });
    lonely.close();
  });

  it("leaves a fault of ours what it is", async () => {
    answer = () => Promise.reject(new Error("a bug"));
    await expect(client.send(newUuid(), message, "k", never)).rejects.toMatchObject({
      name: "AppError",
      reason: "INTERNAL_ERROR",
    });
  });

  it("stops with the reason of the signal, and the service is told", async () => {
    const aborter = new AbortController();
    const told = new Promise<void>((resolve) => {
      answer = (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            resolve();
            reject(new AppError("UNAVAILABLE", "cancelled"));
          });
          aborter.abort(new Error("the run was cancelled"));
        });
    });
    await expect(client.send(newUuid(), message, "k", aborter.signal)).rejects.toThrow(
      "the run was cancelled",
    );
    await told;
  });
});

describe("a resolved message", () => {
  it("may have one address or several in each field", () => {
    expect(
      readEmailMessage({ to: ["a@x.example", "b@x.example"], cc: "c@x.example", subject: "s" }),
    ).toEqual({
      to: ["a@x.example", "b@x.example"],
      cc: ["c@x.example"],
      bcc: [],
      replyTo: [],
      from: undefined,
      subject: "s",
      text: undefined,
      html: undefined,
    });
  });

  it("has nothing where templates found nothing", () => {
    expect(
      readEmailMessage({
        to: "a@x.example",
        cc: null,
        from: null,
        subject: "s",
        text: "",
        html: null,
      }),
    ).toMatchObject({ cc: [], from: undefined, text: "", html: undefined });
  });

  it("is one text an address: commas do not add recipients", () => {
    const to = "a@x.example, eve@evil.example";
    expect(readEmailMessage({ to, subject: "s" }).to).toEqual([to]);
  });

  it.each([
    [{ to: 7, subject: "s" }, /to must be an e-mail address or an array of them/],
    [{ to: ["a@x.example", null], subject: "s" }, /to/],
    [{ to: "a@x.example" }, /subject must be a text/],
    [{ to: "a@x.example", subject: "s", html: {} }, /html must be a text/],
    [null, /./],
  ])("%j is refused, naming the field", (resolved, expected) => {
    expect(() => readEmailMessage(resolved)).toThrow(
      expect.objectContaining({
        code: "INVALID_INPUT",
        retryable: false,
        message: expect.stringMatching(expected),
      }),
    );
  });
});
