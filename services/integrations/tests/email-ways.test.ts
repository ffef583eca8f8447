import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { newId, newUuid } from "@workflow/db";
import type { SendEmailRequest } from "@workflow/proto/integrations/v1/email";
import { startHttpDouble, startSmtpDouble } from "@workflow/testkit";
import type { HttpDouble, SmtpDouble } from "@workflow/testkit";
import { runsOf, startActionsHarness } from "./support/actions-harness.ts";
import type { ActionsClient, ActionsHarness } from "./support/actions-harness.ts";
import { message } from "./support/email-harness.ts";

const companyId = newUuid();
const CREDENTIALS = {
  resend: { apiKey: "re_canary_of_resend" },
  sendgrid: { apiKey: "SG.canary_of_sendgrid" },
  slack: { accessToken: "xoxb-canary-of-slack" },
};

let harness: ActionsHarness;
let client: ActionsClient;
let host: HttpDouble;
let smtp: SmtpDouble;

beforeAll(async () => {
  harness = await startActionsHarness();
  host = await startHttpDouble(() => ({ body: { id: "49a3999c" } }));
  smtp = await startSmtpDouble();
  client = await harness.start({
    mail: { smtpUrl: smtp.url, emailFrom: "Shop <shop@shop.example>" },
    providers: new Map(Object.keys(CREDENTIALS).map((id) => [id, { baseUrl: host.url }])),
  });
});
beforeEach(() => {
  host.requests.length = 0;
  smtp.messages.length = 0;
});
afterAll(async () => {
  await harness.close();
  await host.close();
  await smtp.close();
});

const connect = (provider: keyof typeof CREDENTIALS, more = {}) =>
  harness.connect(companyId, { provider, credentials: CREDENTIALS[provider], ...more });

const send = (more: Partial<SendEmailRequest>) =>
  client.sendEmail(message({ from: "Ada <ada@own.example>", ...more }), {
    identity: runsOf(companyId),
  });

describe("which way a message goes", () => {
  it("is the run's connection where the step names none and it is one of e-mail", async () => {
    const runConnectionId = await connect("resend");
    await send({ runConnectionId });
    expect(host.requests).toHaveLength(1);
    expect(smtp.messages).toHaveLength(0);
  });

  it("is the step's connection where both are named", async () => {
    const runConnectionId = await connect("resend");
    const connectionId = await connect("sendgrid");
    await send({ connectionId, runConnectionId });
    expect(host.requests.map(({ path }) => path)).toEqual(["/v3/mail/send"]);
  });

  it.each([
    ["the run has no connection", undefined],
    ["the run's connection is of another kind", "slack" as const],
  ])("is the mail server when %s, though the company has one of e-mail", async (_, of) => {
    await connect("resend");
    const runConnectionId = of === undefined ? undefined : await connect(of);
    await send({ runConnectionId, from: undefined });
    expect(smtp.messages.map(({ from }) => from)).toEqual(["shop@shop.example"]);
    expect(host.requests).toHaveLength(0);
  });

  it.each<[string, () => Promise<Partial<SendEmailRequest>>, string]>([
    ["does not exist", async () => ({ connectionId: newId("conn_") }), "CONNECTION_NOT_FOUND"],
    [
      "has no id of a connection",
      async () => ({ connectionId: "x' or 1=1" }),
      "CONNECTION_NOT_FOUND",
    ],
    [
      "of the run does not exist",
      async () => ({ runConnectionId: newId("conn_") }),
      "CONNECTION_NOT_FOUND",
    ],
    [
      "is another company's",
      async () => ({
        connectionId: await harness.connect(newUuid(), {
          provider: "resend",
          credentials: CREDENTIALS.resend,
        }),
      }),
      "CONNECTION_NOT_FOUND",
    ],
    [
      "sends no e-mail",
      async () => ({ connectionId: await connect("slack") }),
      "CONNECTION_MISMATCH",
    ],
    [
      "is in error",
      async () => ({ connectionId: await connect("resend", { status: "error" }) }),
      "CONNECTION_NOT_ACTIVE",
    ],
    [
      "of the run is in error",
      async () => ({ runConnectionId: await connect("resend", { status: "error" }) }),
      "CONNECTION_NOT_ACTIVE",
    ],
  ])("is none when the connection %s", async (_, prepare, code) => {
    const { failure } = await send(await prepare());
    expect(failure).toMatchObject({ code, retryable: false });
    expect(host.requests).toHaveLength(0);
    expect(smtp.messages).toHaveLength(0);
  });
});
