import { afterAll, beforeAll, beforeEach, expect } from "@jest/globals";
import { startHttpDouble } from "@workflow/testkit";
import type { DoubleHandler, DoubleResponse, HttpDouble } from "@workflow/testkit";
import { startActionsHarness, stepCall } from "./actions-harness.ts";
import type { ActionsClient, ActionsHarness, TestConnection } from "./actions-harness.ts";

/** The access token of the connection of Stripe; no line of a log may hold its "canary". */
export const TOKEN = "canary/token+1";

/** A connection of Stripe, whose credentials can be renewed. */
export const stripe: TestConnection = {
  provider: "stripe",
  credentials: { accessToken: TOKEN, refreshToken: "rt_canary" },
};

/** A connection of Resend, by an API key. */
export const resend: TestConnection = {
  provider: "resend",
  credentials: { apiKey: "re_canary" },
};

/** A step's call of `stripe.getCustomer`, with the connections that the step and its run name. */
export function getCustomer(named: { step?: string; run?: string } = {}, more: object = {}) {
  return stepCall({
    action: "stripe.getCustomer",
    inputsJson: '{"customer":"cus_1"}',
    connection: {
      ...(named.step === undefined ? {} : { stepConnectionId: named.step }),
      ...(named.run === undefined ? {} : { runConnectionId: named.run }),
    },
    ...more,
  });
}

/** A step's call of `resend.listContacts`. */
export const listContacts = stepCall({ action: "resend.listContacts", inputsJson: "{}" });

function settingsOf({ url }: HttpDouble) {
  const application = { clientId: "ca_1", clientSecret: "canary-secret", oauthBaseUrl: url };
  return new Map([
    ["stripe", { baseUrl: url, ...application }],
    ["resend", { baseUrl: url }],
  ]);
}

/** One service for the cases of a file; one double plays Stripe, its authorization server and Resend. */
export function useActions() {
  let harness: ActionsHarness;
  let client: ActionsClient;
  let server: HttpDouble;
  let handler: DoubleHandler;
  let answerToken: () => DoubleResponse;

  beforeAll(async () => {
    server = await startHttpDouble((request, response) =>
      request.path === "/oauth/token" ? answerToken() : handler(request, response),
    );
    harness = await startActionsHarness();
    client = await harness.start({ providers: settingsOf(server) });
  });
  beforeEach(() => {
    handler = () => ({ body: { id: "cus_1" } });
    answerToken = () => ({ status: 500 });
    server.requests.length = 0;
  });
  // The log is whole after the last case only.
  afterAll(() => {
    expect(harness.logged()).toContain("ActionsService/ExecuteAction");
    expect(harness.logged()).not.toContain("canary");
  });
  afterAll(async () => {
    await harness.close();
    await server.close();
  });

  return {
    get harness() {
      return harness;
    },
    get client() {
      return client;
    },
    get server() {
      return server;
    },
    /** The answer of Stripe and Resend in the case under way. */
    set handler(next: DoubleHandler) {
      handler = next;
    },
    /** The answer of the authorization server in the case under way. */
    set answerToken(next: () => DoubleResponse) {
      answerToken = next;
    },
    /** The credentials of the requests of the case, in order. */
    tokensSeen: (): (string | undefined)[] =>
      server.requests.map(({ headers }) => headers.authorization),
  };
}
