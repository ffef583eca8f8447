import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { Reason } from "@workflow/errors";
import { EmailServiceService } from "@workflow/proto/integrations/v1/email";
import type { SendEmailRequest, SendEmailResponse } from "@workflow/proto/integrations/v1/email";
import { createRpcServer, createTokenVerifier, rpc } from "@workflow/rpc";
import type { RpcContext, RpcServer } from "@workflow/rpc";
import { createTestTokens, freePort, waitFor } from "@workflow/testkit";
import { pino } from "pino";
import { createEmailClient } from "../src/effects/email-client.ts";
import type { EmailClient } from "../src/interpreter/effects/email-client.ts";
import { readAttachments } from "../src/interpreter/steps/email-attachments.ts";
import type { CallCause } from "../src/domain/run-facts.ts";
import { readEmailMessage } from "../src/interpreter/steps/email-message.ts";

const tokens = createTestTokens();
const tokenSigner = tokens.signerOf("runs");
const message = {
  ...readEmailMessage({ to: "a@b.example", subject: "Hi", text: "Hello" }),
  attachments: [],
  named: { step: null, run: null },
};
const call = { key: "k", hasTurn: false };
const never = new AbortController().signal;

/** A double of the integrations service. */
let answer: (request: SendEmailRequest, context: RpcContext) => Promise<SendEmailResponse>;
let server: RpcServer;
let client: EmailClient;

beforeAll(async () => {
  server = createRpcServer({
    logger: pino({ level: "silent" }),
    verifier: createTokenVerifier({
      audience: "integrations",
      publicKeys: tokens.publicKeys,
      revoked: { has: async () => false },
    }),
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
    const key = "run_1:mail:1";
    const letter = {
      ...message,
      attachments: [
        {
          filename: "a.txt",
          contentType: undefined,
          source: { $case: "content" as const, value: Buffer.from("hi") },
        },
      ],
      named: { step: "conn_1", run: "conn_2" },
    };
    const sent = await client.send(causeOf(companyId), letter, { key, hasTurn: true }, never);
    expect(sent).toEqual({ kind: "done", output: outcome });
    expect(seen).toEqual([
      expect.objectContaining({
        idempotencyKey: "run_1:mail:1",
        to: ["a@b.example"],
        text: "Hello",
        attachments: letter.attachments,
        connectionId: "conn_1",
        runConnectionId: "conn_2",
        hasTurn: true,
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
    for (const group of [1, 1, 2]) {
      await client.send(causeOf(newUuid()), message, { ...call, key: `${path}:${group}` }, never);
    }
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
    await expect(client.send(causeOf(newUuid()), message, call, never)).rejects.toMatchObject({
      name: "StepError",
      message: "No.",
      ...expected,
    });
  });

  it("tells of a connection's pause, and fails with what is wrong with a connection", async () => {
    const nothing = { messageId: "", accepted: [], rejected: [] };
    answer = () => Promise.resolve({ ...nothing, pause: { waitMs: 5_000, message: "Slow down" } });
    expect(await client.send(causeOf(newUuid()), message, call, never)).toEqual({
      kind: "paused",
      waitMs: 5_000,
      message: "Slow down",
    });
    const failure = {
      code: "CONNECTION_NOT_ACTIVE",
      message: "It is not.",
      retryable: false,
      answered: false,
      detailsJson: '{"status":"error"}',
    };
    answer = () => Promise.resolve({ ...nothing, failure });
    await expect(client.send(causeOf(newUuid()), message, call, never)).rejects.toMatchObject({
      name: "StepError",
      code: "CONNECTION_NOT_ACTIVE",
      retryable: false,
      details: { status: "error" },
    });
  });

  it("sends so many bytes of files at once, by company and in all; the rest waits", async () => {
    const value = Buffer.alloc(10 * 1024 * 1024);
    const source = { $case: "content" as const, value };
    const attachments = [{ filename: "a", contentType: undefined, source }];
    let most = 0;
    const open = new Map<string, number>();
    const { promise: go, resolve: letGo } = Promise.withResolvers<void>();
    answer = async (_, { identity }) => {
      open.set(identity.companyId, (open.get(identity.companyId) ?? 0) + 1);
      most = Math.max(most, ...open.values());
      await go;
      open.set(identity.companyId, (open.get(identity.companyId) ?? 0) - 1);
      return { messageId: "<1@x>", accepted: [], rejected: [] };
    };
    const send = (companyId: string, more: object = { attachments }) =>
      client.send(causeOf(companyId), { ...message, ...more }, call, never);
    const companies = [newUuid(), newUuid()];
    const sends = companies.flatMap((companyId) => [1, 2, 3].map(() => send(companyId)));
    await waitFor(() => companies.every((companyId) => open.get(companyId) === 2));
    // Without files nobody waits.
    const third = newUuid();
    sends.push(send(third, {}));
    await waitFor(() => open.get(third) === 1);
    letGo();
    await Promise.all(sends);
    expect(most).toBe(2);
  });

  it("names the fields that the service refused", async () => {
    const violations = [{ path: ["to", "0"], message: "must be one e-mail address" }];
    answer = () => Promise.reject(new AppError("BAD_REQUEST", "No.", { violations }));
    await expect(client.send(causeOf(newUuid()), message, call, never)).rejects.toMatchObject({
      details: { problems: violations },
    });
  });

  it("fails the step for now while the service is away", async () => {
    const address = `127.0.0.1:${await freePort()}`;
    const lonely = createEmailClient({ address, tokenSigner });
    await expect(lonely.send(causeOf(newUuid()), message, call, never)).rejects.toMatchObject({
      code: "EMAIL_FAILED",
      retryable: true,
    });
    lonely.close();
  });

  it("leaves a fault of ours what it is", async () => {
    answer = () => Promise.reject(new Error("a bug"));
    await expect(client.send(causeOf(newUuid()), message, call, never)).rejects.toMatchObject({
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
    await expect(client.send(causeOf(newUuid()), message, call, aborter.signal)).rejects.toThrow(
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

  it("has a list as one text as well, with commas between the addresses (D61)", () => {
    const to = "a@x.example, eve@evil.example";
    const expected = ["a@x.example", "eve@evil.example"];
    expect(readEmailMessage({ to, subject: "s" }).to).toEqual(expected);
  });

  it.each([
    [
      { to: 7, subject: "s" },
      /to must be an e-mail address, several with commas between them, or an array of them/,
    ],
    [{ to: ["a@x.example", 7], subject: "s" }, /to/],
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

describe("resolved attachments", () => {
  const read = (...files: unknown[]) => readAttachments(files);

  it("are decoded from base64 of any kind, and are none where templates found nothing", () => {
    const source = (text: string) => ({ $case: "content", value: Buffer.from(text) });
    expect(
      read(
        { filename: "a", content: "aGk_", contentType: null },
        null,
        { filename: "b", content: "aG\r\nkh", url: null, contentType: "text/plain" },
        { filename: "c", url: "https://x.example" },
      ),
    ).toEqual([
      { filename: "a", contentType: undefined, source: source("hi?") },
      { filename: "b", contentType: "text/plain", source: source("hi!") },
      {
        filename: "c",
        contentType: undefined,
        source: { $case: "url", value: "https://x.example" },
      },
    ]);
    expect(readAttachments(null)).toEqual([]);
    expect(readAttachments(undefined)).toEqual([]);
  });

  it.each<[unknown[], string]>([
    [[{ filename: "a", content: null }], "attachments.0 has either content or url"],
    [
      [{ filename: "a", content: "", url: "https://x.example" }],
      "attachments.0 has either content or url",
    ],
    [[{ filename: "a", content: "no base64!" }], "attachments.0.content must be base64"],
    [[{ filename: "a", content: { a: 1 } }], "attachments.0.content must be base64"],
    [[null, { filename: "a\r\nX: y", content: "" }], "attachments.1.filename must not hold"],
    [[{ filename: null, content: "" }], "attachments.0.filename must be a text"],
    [[{ filename: "a", content: "", contentType: "a/b\nX: y" }], "attachments.0.contentType must"],
    [["a"], "attachments.0"],
    [
      Array.from({ length: 21 }, () => ({ filename: "a", content: "" })),
      "attachments must have at most 20 files",
    ],
    [
      Array.from({ length: 2 }, () => ({
        filename: "a",
        content: Buffer.alloc(6 * 1024 * 1024).toString("base64"),
      })),
      "attachments have more than 10 MiB together",
    ],
  ])("are refused for good, naming the field: %#", (files, said) => {
    expect(() => readAttachments(files)).toThrow(
      expect.objectContaining({
        code: "INVALID_INPUT",
        retryable: false,
        message: expect.stringContaining(said),
      }),
    );
  });

  it("that are no array are refused", () => {
    expect(() => readAttachments("x")).toThrow("attachments must be an array of files");
  });
});

function causeOf(companyId: string): CallCause {
  return { companyId, requestId: "req-1", traceparent: null };
}
