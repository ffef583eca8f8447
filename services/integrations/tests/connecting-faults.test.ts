import { afterAll, beforeAll, beforeEach, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { AuthorizationsServiceService } from "@workflow/proto/integrations/v1/authorizations";
import { createRpcClient } from "@workflow/rpc";
import type { RpcClient } from "@workflow/rpc";
import { startHttpDouble, startOAuthDouble, waitFor } from "@workflow/testkit";
import type { HttpDouble, OAuthDouble } from "@workflow/testkit";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";

const CLIENT = { clientId: "our-client", clientSecret: "our-client-secret-hush" };
const publicOrigin = "https://workflows.example.com";

let oauth: OAuthDouble;
let broker: HttpDouble;
let harness: Harness;
const clients: { close(): void }[] = [];

beforeAll(async () => {
  oauth = await startOAuthDouble({ ...CLIENT, issuer: "https://accounts.google.com" });
  broker = await startHttpDouble(() => ({ status: 401, body: { error: { code: "no" } } }));
  harness = await startHarness();
});
afterAll(async () => {
  for (const client of clients) client.close();
  await harness?.close();
  for (const double of [oauth, broker]) await double?.close();
});
beforeEach(() => {
  oauth.failures.length = 0;
});

/** Of services that have told of nothing yet. */
async function connectTo(way: "provider" | "broker") {
  const settings = { ...CLIENT, oauthBaseUrl: oauth.url, baseUrl: oauth.url };
  const { grpcAddress: address } = await harness.start({
    databasePoolSize: 3,
    providers: new Map([["google-mail", settings]]),
    broker: way === "broker" ? { baseUrl: broker.url, secretKey: "our-broker-key-hush" } : null,
  });
  const people: RpcClient<typeof AuthorizationsServiceService> = createRpcClient(
    AuthorizationsServiceService,
    { address, minter: harness.tokens.minterTo("integrations") },
  );
  const asGateway: typeof people = createRpcClient(AuthorizationsServiceService, {
    address,
    minter: harness.tokens.serviceMinterTo("integrations", "gateway"),
  });
  clients.push(people, asGateway);
  const identity = newIdentity(["connections:read", "connections:write"]);
  const begin = () => {
    const request = { provider: "google-mail", publicOrigin, fields: {} };
    return people.beginAuthorization(request, { identity });
  };
  return { begin, asGateway };
}

/** What of the lines at the level of errors names the setting. */
function toldOf(setting: string): unknown[] {
  return harness
    .logged()
    .split("\n")
    .filter((line) => line !== "")
    .map((line): { level?: number; setting?: string } => JSON.parse(line))
    .filter((line) => line.level === 50 && line.setting === setting);
}

it("a callback whose application is refused tells the operator, and the person to try again", async () => {
  const setting = "GOOGLE_MAIL_CLIENT_SECRET";
  const { begin, asGateway } = await connectTo("provider");
  const { authUrl } = await begin();
  const complete = async () => {
    const params = Object.fromEntries((await oauth.visit(authUrl)).searchParams);
    const principal = { type: "service", id: "gateway" } as const;
    const identity = { companyId: newUuid(), principal, scopes: ["internal:authorizations"] };
    return asGateway.completeAuthorization({ provider: "google-mail", params }, { identity });
  };
  for (let time = 0; time < 2; time += 1) {
    oauth.failures.push({ status: 401, error: "invalid_client" });
    expect(await complete()).toMatchObject({ error: "provider_unreachable" });
  }
  await waitFor(() => toldOf(setting).length > 0);
  expect(toldOf(setting)).toHaveLength(1);
  expect(harness.logged()).not.toContain("hush");
});

it("an authorization that the broker's key does not begin tells the operator", async () => {
  const { begin } = await connectTo("broker");
  for (let time = 0; time < 2; time += 1) {
    expect((await errorOf(begin())).reason).toBe("UPSTREAM_ERROR");
  }
  expect(toldOf("NANGO_SECRET_KEY")).toHaveLength(1);
  expect(harness.logged()).not.toContain("hush");
});
