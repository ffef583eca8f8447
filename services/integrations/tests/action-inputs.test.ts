import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { startHttpDouble } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble } from "@workflow/testkit";
import {
  failureOf,
  outputOf,
  runsOf,
  startActionsHarness,
  stepCall,
} from "./support/actions-harness.ts";
import type { ActionsClient, ActionsHarness, TestConnection } from "./support/actions-harness.ts";

let harness: ActionsHarness;
let client: ActionsClient;
let server: HttpDouble;
let handler: DoubleHandler;

const stripe: TestConnection = { provider: "stripe", credentials: { accessToken: "sk_canary" } };
const resend: TestConnection = { provider: "resend", credentials: { apiKey: "re_canary" } };
const sendgrid: TestConnection = { provider: "sendgrid", credentials: { apiKey: "SG.canary" } };

beforeAll(async () => {
  server = await startHttpDouble((request, response) => {
    if (request.path === "/file") return { headers: { "content-type": "image/png" }, body: "PNG" };
    return handler(request, response);
  });
  harness = await startActionsHarness();
  const ids = ["stripe", "resend", "sendgrid"];
  client = await harness.start({
    outboundAllowPrivate: true,
    providers: new Map(ids.map((id) => [id, { baseUrl: server.url }])),
  });
});
beforeEach(() => {
  handler = () => ({ body: { id: "cus_1" } });
  server.requests.length = 0;
});
afterAll(async () => {
  await harness.close();
  await server.close();
});

const getCustomer = (more: object) =>
  stepCall({ action: "stripe.getCustomer", inputsJson: '{"customer":"cus_1"}', ...more });

describe("the inputs of a step", () => {
  it("are checked again now that templates have values", async () => {
    const identity = runsOf();
    await harness.connect(identity.companyId, stripe);
    const request = getCustomer({ inputsJson: '{"customer": 7}' });
    expect(failureOf(await client.executeAction(request, { identity }))).toMatchObject({
      code: "INVALID_INPUT",
      retryable: false,
      message: "The action's inputs are not valid: customer must be a string, not a number.",
      details: { problems: [{ path: ["customer"], message: "must be a string, not a number" }] },
    });
    const missing = getCustomer({ inputsJson: '{"customer": ""}' });
    expect(failureOf(await client.executeAction(missing, { identity }))).toMatchObject({
      code: "INVALID_INPUT",
      details: { problems: [{ path: ["customer"], message: "is required" }] },
    });
    expect(server.requests).toEqual([]);
  });

  it("of several forms are told by the form that comes next", async () => {
    const identity = runsOf();
    await harness.connect(identity.companyId, resend);
    const mail = { from: "a@shop.example", to: 5, subject: "Hello", text: "Hello" };
    const call = stepCall({ action: "resend.sendEmail", inputsJson: JSON.stringify(mail) });
    const { message } = failureOf(await client.executeAction(call, { identity }));
    expect(message).toMatch(/^The action's inputs are not valid: to must be /);
  });

  it("with secrets that are bound to hosts go to these only (D66)", async () => {
    const identity = runsOf();
    await harness.connect(identity.companyId, stripe);
    const bound = (hosts: string[]) => getCustomer({ hostLimits: [{ hosts }] });
    const refused = await client.executeAction(bound(["api.example.com"]), { identity });
    expect(failureOf(refused)).toMatchObject({ code: "SECRET_HOST_NOT_ALLOWED" });
    expect(server.requests).toEqual([]);
    outputOf(await client.executeAction(bound(["127.0.0.1"]), { identity }));
  });
});

describe("the files of an action's inputs", () => {
  const sendAction = async (attachments: unknown, more = {}) => {
    const identity = runsOf();
    await harness.connect(identity.companyId, sendgrid);
    const inputs = {
      from: "a@own.example",
      to: "b@x.example",
      subject: "s",
      text: "t",
      attachments,
    };
    const inputsJson = JSON.stringify(inputs);
    return client.executeAction(
      stepCall({
        action: "sendgrid.sendMail",
        inputsJson,
        ...more,
      }),
      { identity },
    );
  };

  it("that are named by URL are fetched, and the provider gets their content", async () => {
    outputOf(await sendAction([{ filename: "a.png", url: `${server.url}/file` }]));
    expect(server.requests.map(({ path }) => path)).toEqual(["/file", "/v3/mail/send"]);
    const sent: unknown = JSON.parse(server.requests.at(-1)?.body ?? "");
    expect(sent).toMatchObject({ attachments: [{ content: "UE5H", type: "image/png" }] });
  });

  it("that cannot be had fail the step, naming the place", async () => {
    handler = () => ({ status: 404 });
    const failure = failureOf(await sendAction([{ filename: "a", url: `${server.url}/gone` }]));
    expect(failure).toMatchObject({
      code: "INVALID_INPUT",
      retryable: false,
      details: { problems: [{ path: ["attachments", "0", "url"] }] },
    });
    handler = () => ({ status: 503 });
    expect(
      failureOf(await sendAction([{ filename: "a", url: `${server.url}/busy` }])),
    ).toMatchObject({ code: "FILE_UNAVAILABLE", retryable: true });
  });

  it("are fetched from hosts only that the secrets in the inputs are bound to (D66)", async () => {
    const hostLimits = [{ hosts: ["api.sendgrid.com"] }];
    const attachments = [{ filename: "a", url: `${server.url}/file` }];
    expect(failureOf(await sendAction(attachments, { hostLimits }))).toMatchObject({
      code: "SECRET_HOST_NOT_ALLOWED",
    });
    expect(server.requests).toHaveLength(0);
  });
});
