import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { newId } from "@workflow/db";
import { startHttpDouble, startSmtpDouble } from "@workflow/testkit";
import type { DoubleResponse, HttpDouble, SmtpDouble } from "@workflow/testkit";
import { z } from "zod";
import { createActive, postRun, runIdOf, waitForRun, workflowBody } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";
import { mailStep, send } from "../support/email-steps.ts";

let system: WholeSystem;
let mail: SmtpDouble;
/** The double of Resend. */
let resend: HttpDouble;
let resendAnswers: DoubleResponse[] = [];

beforeAll(async () => {
  mail = await startSmtpDouble();
  resend = await startHttpDouble(({ method }) =>
    method === "GET" ? { body: { data: [] } } : (resendAnswers.shift() ?? { body: { id: "re-1" } }),
  );
  system = await startWholeSystem({
    mail: { smtpUrl: mail.url, emailFrom: "Shop <shop@shop.example>", perDay: 100 },
    providers: new Map([["resend", { baseUrl: resend.url }]]),
  });
});
afterAll(async () => {
  await system.stop();
  await mail.close();
  await resend.close();
});
beforeEach(() => {
  mail.messages.length = 0;
  resend.requests.length = 0;
});

describe("whom an e-mail goes to (D61)", () => {
  it.each<[string, object, object, string[]]>([
    ["one text", { to: "a@x.example" }, {}, ["a@x.example"]],
    ["a text with commas", { to: "a@x.example, b@x.example" }, {}, ["a@x.example", "b@x.example"]],
    [
      "a text with a comma in a name",
      { to: '"Doe, Jane" <a@x.example>,b@x.example' },
      {},
      ["a@x.example", "b@x.example"],
    ],
    ["an array", { to: ["a@x.example", "B <b@x.example>"] }, {}, ["a@x.example", "b@x.example"]],
    [
      "a template that becomes an array",
      { to: "{{input.list}}" },
      { list: ["a@x.example", '"Doe, Jane" <b@x.example>'] },
      ["a@x.example", "b@x.example"],
    ],
    [
      "a template that becomes a text with commas",
      { to: "{{input.list}}" },
      { list: 'a@x.example, "Doe, Jane" <b@x.example>,' },
      ["a@x.example", "b@x.example"],
    ],
    [
      "templates between commas",
      { to: "{{input.name}} <a@x.example>, {{input.more}}, {{input.none}}" },
      { name: "Ada", more: ["b@x.example", "c@x.example"] },
      ["a@x.example", "b@x.example", "c@x.example"],
    ],
    [
      "to, cc and bcc, each of its kind, each mailbox once",
      {
        to: "a@x.example,A <a@X.EXAMPLE>",
        cc: "{{input.cc}}",
        bcc: ["c@x.example", "a@x.example"],
      },
      { cc: "b@x.example" },
      ["a@x.example", "b@x.example", "c@x.example"],
    ],
    [
      "nobody whom a template brings into the name of another",
      { to: "b@x.example, {{input.x}} <a@x.example>" },
      { x: "eve@y.example, A" },
      ["b@x.example", "a@x.example"],
    ],
    [
      "what is there, when a template finds nothing",
      { to: "a@x.example", cc: "{{input.cc}}", bcc: ["{{input.bcc}}"] },
      {},
      ["a@x.example"],
    ],
  ])("is %s", async (_what, config, input, recipients) => {
    const run = await send(system, config, input);
    expect(run).toMatchObject({ status: "completed", output: { accepted: recipients } });
    expect(mail.messages.map(({ to }) => to)).toEqual([recipients]);
  });

  it.each<[string, object, object, string]>([
    ["a line break", { to: "{{input.x}}" }, { x: "a@x.example\r\nBcc: eve@y.example" }, "to must"],
    [
      "a line break in an array",
      { to: "a@x.example", cc: "{{input.x}}" },
      { x: ["b@x.example", "a\nBcc: eve@y.example"] },
      "cc.1 must",
    ],
    [
      "a line break within a longer text",
      { to: "{{input.x}} <a@x.example>" },
      { x: "A\r\nBcc: eve@y.example" },
      "to.0 must",
    ],
    ["an open quotation mark", { to: "{{input.x}}" }, { x: '"A <a@x.example>' }, "to has"],
    ["a number", { to: "a@x.example", bcc: "{{input.x}}" }, { x: 5 }, "bcc must"],
    ["an object in an array", { to: "{{input.x}}" }, { x: ["a@x.example", {}] }, "to.1 must"],
    [
      "more than 50",
      { to: "{{input.x}}" },
      { x: Array.from({ length: 51 }, (_, i) => `r${i}@x.example`).join() },
      "to must have at most 50",
    ],
  ])(
    "is refused for good when a template brings in %s, naming the field",
    async (_what, config, input, said) => {
      const run = await send(system, config, input);
      expect(run).toMatchObject({ status: "failed", error: { code: "INVALID_INPUT" } });
      expect(run.error?.message).toContain(said);
      expect(run.stepResults[0]?.attempt).toBe(1);
      expect(mail.messages).toHaveLength(0);
    },
  );

  it.each<[string, object, object, string[]]>([
    ["nobody", { to: "{{input.none}}" }, {}, ["to"]],
    ["a text that is no address", { to: "{{input.x}}" }, { x: "a@x.example, eve" }, ["to", "1"]],
    [
      "a list within an array's entry",
      { to: ["{{input.x}}"] },
      { x: "a@x.example, eve@y.example" },
      ["to", "0"],
    ],
  ])("is refused for good when it is %s", async (_what, config, input, path) => {
    const run = await send(system, config, input);
    expect(run).toMatchObject({
      status: "failed",
      error: { code: "EMAIL_REJECTED", details: { problems: [{ path }] } },
    });
    expect(run.stepResults[0]?.attempt).toBe(1);
    expect(mail.messages).toHaveLength(0);
  });

  it.each<[string, object, string[]]>([
    ["an entry that is no address", { to: "a@x.example, eve" }, ["to"]],
    ["no entry", { to: "a@x.example", cc: "," }, ["cc"]],
    ["a line break", { to: "a@x.example\r\nBcc: eve@y.example" }, ["to"]],
    ["a list in an array", { to: ["a@x.example, b@x.example"] }, ["to", "0"]],
  ])("that is fixed is checked with the definition: %s", async (_what, config, path) => {
    const body = workflowBody({ steps: [mailStep(config)] });
    const answer = await system.call("POST", "/workflows", { body });
    expect(answer).toMatchObject({
      status: 400,
      error: {
        code: "VALIDATION_ERROR",
        details: [{ path: ["steps", "0", "config", ...path] }],
      },
    });
  });
});

describe("whom an e-mail comes from (D61)", () => {
  it("is any name at the installation's domain", async () => {
    const run = await send(
      system,
      { to: "a@x.example", from: "{{input.from}}" },
      {
        from: "The Sales Team <sales@Shop.example>",
      },
    );
    expect(run.status).toBe("completed");
    expect(mail.messages[0]?.from).toBe("sales@shop.example");
  });

  it("is nobody else: the step fails at once, without another attempt", async () => {
    const run = await send(system, { to: "a@x.example", from: "CEO <ceo@bank.example>" });
    expect(run).toMatchObject({ status: "failed", error: { code: "EMAIL_SENDER_NOT_ALLOWED" } });
    expect(run.error?.message).toContain("bank.example");
    expect(run.stepResults[0]?.attempt).toBe(1);
    expect(mail.messages).toHaveLength(0);
  });
});

describe("EMAIL_PER_DAY", () => {
  it("ends the step of the company that has used it up, telling when it may send again", async () => {
    const as = { key: system.globex.key };
    const recipients = Array.from({ length: 50 }, (_, i) => `r${i}@x.example`);
    const workflowId = await createActive(system, { steps: [mailStep({ to: recipients })] }, as);
    const runOnce = async () =>
      waitForRun(system, runIdOf(await postRun(system, workflowId, {}, as)), undefined, as);
    for (let i = 0; i < 2; i += 1) expect((await runOnce()).status).toBe("completed");
    const run = await runOnce();
    expect(run).toMatchObject({
      status: "failed",
      error: {
        code: "EMAIL_QUOTA",
        details: {
          limit: "emailPerDay",
          perDay: 100,
          resetsAt: expect.stringMatching(/T00:00:00\.000Z$/),
        },
      },
    });
    expect(run.stepResults[0]?.attempt).toBe(1);
    expect((await send(system, { to: "a@x.example" })).status).toBe("completed");
    expect(mail.messages).toHaveLength(3);
  });
});

describe("through a connection", () => {
  const connected = z.object({ id: z.string() });
  async function connect(): Promise<string> {
    const body = { apiKey: "re_canary_key" };
    const { data } = await system.call("POST", "/connections/resend/api-key", { body });
    resend.requests.length = 0;
    return connected.parse(data).id;
  }
  const message = { to: "a@x.example", from: "Me <me@own.example>" };

  it("that the step names, the provider takes the message", async () => {
    const connectionId = await connect();
    const run = await send(
      system,
      { ...message, connectionId: "{{input.id}}" },
      { id: connectionId },
    );
    expect(run).toMatchObject({
      status: "completed",
      output: { messageId: "re-1", accepted: ["a@x.example"], rejected: [] },
    });
    expect(resend.requests).toMatchObject([
      { path: "/emails", headers: { authorization: "Bearer re_canary_key" } },
    ]);
    expect(resend.requests[0]?.idempotencyKey).toContain(run.id);
    expect(mail.messages).toHaveLength(0);
  });

  it("that the run names, unless the step names another", async () => {
    const runConnectionId = await connect();
    const workflowId = await createActive(system, { steps: [mailStep(message)] });
    const body = { input: {}, connectionId: runConnectionId };
    const answer = await system.call("POST", `/workflows/${workflowId}/run`, { body });
    expect(await waitForRun(system, runIdOf(answer))).toMatchObject({ status: "completed" });
    expect(resend.requests).toHaveLength(1);
  });

  it("that is called too often, the step waits for its turn, which is no attempt", async () => {
    const connectionId = await connect();
    resendAnswers = [{ status: 429, headers: { "retry-after": "1" }, body: { name: "slow" } }];
    const run = await send(system, { ...message, connectionId });
    expect(run).toMatchObject({ status: "completed", output: { messageId: "re-1" } });
    expect(run.stepResults[0]?.attempt).toBe(1);
    const keys = resend.requests.map(({ idempotencyKey }) => idempotencyKey);
    expect(keys).toHaveLength(2);
    expect(keys[1]).toBe(keys[0]);
  });

  it.each<[string, object, string]>([
    ["does not exist", { connectionId: newId("conn_") }, "CONNECTION_NOT_FOUND"],
    ["is not of this company", { connectionId: "{{input.globex}}" }, "CONNECTION_NOT_FOUND"],
    ["comes from a template that finds nothing", { connectionId: "{{input.x}}" }, "INVALID_INPUT"],
  ])(
    "that %s the step fails at once, and nothing is sent by another way",
    async (_, more, code) => {
      const body = { apiKey: "re_canary_key" };
      const as = { key: system.globex.key };
      const other = await system.call("POST", "/connections/resend/api-key", { body, ...as });
      resend.requests.length = 0;
      const input = { globex: connected.parse(other.data).id };
      const run = await send(system, { ...message, ...more }, input);
      expect(run).toMatchObject({ status: "failed", error: { code } });
      expect(run.stepResults[0]?.attempt).toBe(1);
      expect(resend.requests).toHaveLength(0);
      expect(mail.messages).toHaveLength(0);
    },
  );
});
