import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { startHttpDouble } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { startAccountHarness } from "./support/account-harness.ts";
import type { AccountHarness, Replica } from "./support/account-harness.ts";

const CLIENT = { clientId: "our-id", clientSecret: "our-client-secret" };
/** What no Postgres text can hold, and half of a character. */
const UNSTORABLE = "\0 \uD800 ";
const STORED = "\u{FFFD} \u{FFFD} ";

let server: HttpDouble;
let world: AccountHarness;
let replica: Replica;

beforeAll(async () => {
  server = await startHttpDouble(() => ({
    status: 401,
    // Escaped, as half of a character is nothing in UTF-8.
    body: JSON.stringify({
      error_code: `${UNSTORABLE}${"CODE".repeat(1_000)}`,
      error_message: `${UNSTORABLE}${"long ".repeat(1_000)}`,
    }),
    headers: { "content-type": "application/json" },
  }));
  const settings = { ...CLIENT, baseUrl: server.url };
  world = await startAccountHarness({ providers: new Map([["plaid", settings]]) });
  replica = await world.start();
});
afterAll(async () => {
  await world?.close();
  await server?.close();
});

it.each(["listBankAccounts", "verifyConnection"] as const)(
  "what a provider writes is stored cut, and in a form that can be stored: %s",
  async (method) => {
    const credentials = { accessToken: "at-1" };
    const connected = await world.connect({ provider: "plaid", credentials });
    const { connectionId, identity } = connected;
    await replica.connections[method]({ connectionId }, { identity });
    const { errorMessage = "" } = await replica.connections.getConnection(
      { connectionId },
      { identity },
    );
    expect(errorMessage).toContain(`${STORED}long`);
    expect(errorMessage.length).toBeLessThanOrEqual(501);
    const { status, errorCode } = await world.stateOf(connected);
    expect(status).toBe("error");
    expect(errorCode).toContain(`${STORED}CODE`);
    expect(errorCode?.length).toBeLessThanOrEqual(100);
  },
);
