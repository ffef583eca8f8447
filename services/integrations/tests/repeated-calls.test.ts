import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { startHttpDouble } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { failureOf, runsOf, startActionsHarness, stepCall } from "./support/actions-harness.ts";
import type { ActionsClient, ActionsHarness } from "./support/actions-harness.ts";

let harness: ActionsHarness;
/** Its provider reads requests and hangs up. */
let client: ActionsClient;
/** Its provider is not there. */
let lonely: ActionsClient;
let server: HttpDouble;

const CREDENTIALS = { accessToken: "token-canary", apiKey: "key-canary" };

beforeAll(async () => {
  server = await startHttpDouble((_, response) => void response.destroy());
  harness = await startActionsHarness();
  const at = (baseUrl: string) =>
    new Map(["slack", "stripe", "resend"].map((id) => [id, { baseUrl }]));
  [client, lonely] = await Promise.all([
    harness.start({ providers: at(server.url) }),
    harness.start({ providers: at("http://127.0.0.1:1") }),
  ]);
});
afterAll(async () => {
  await harness.close();
  await server.close();
});

async function failureAt(replica: ActionsClient, provider: string, action: string, inputs: object) {
  const identity = runsOf(newUuid());
  await harness.connect(identity.companyId, { provider, credentials: CREDENTIALS });
  const call = { action: `${provider}.${action}`, inputsJson: JSON.stringify(inputs) };
  return failureOf(await replica.executeAction(stepCall(call), { identity }));
}

const post = ["slack", "sendMessage", { channel: "C1", text: "hi" }] as const;

describe("a call that the provider has got and not answered", () => {
  it.each([
    ["a second one could do it twice", ...post],
    ["keys hold for other writes only", "resend", "createContact", { email: "ada@example.com" }],
  ])("is not made again where %s; the failure says so", async (_, provider, action, inputs) => {
    expect(await failureAt(client, provider, action, inputs)).toMatchObject({
      code: "NETWORK",
      retryable: false,
      message: expect.stringContaining("Nobody knows whether the call was carried out"),
      details: { provider, retryable: false, outcomeUnknown: true },
    });
  });

  it.each([
    ["only reads", "slack", "findUserByEmail", { email: "ada@example.com" }],
    ["has an idempotency key", "stripe", "createCustomer", { email: "ada@example.com" }],
  ])("may be made again where it %s", async (_, provider, action, inputs) => {
    const failure = await failureAt(client, provider, action, inputs);
    expect(failure).toMatchObject({ code: "NETWORK", retryable: true, answered: false });
    expect(failure.details).not.toHaveProperty("outcomeUnknown");
  });
});

it("a call that the provider never got may be made again, whatever it does", async () => {
  const failure = await failureAt(lonely, ...post);
  expect(failure).toMatchObject({ code: "CONNECT_FAILED", retryable: true });
  expect(failure.details).not.toHaveProperty("outcomeUnknown");
});
