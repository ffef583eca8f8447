import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { findProvider } from "@workflow/catalog";
import type { ProviderManifest } from "@workflow/catalog";
import { newUuid } from "@workflow/db";
import { providerSettingName } from "@workflow/service";
import type { ProviderSettings } from "@workflow/service";
import type { ExecuteActionResponse } from "@workflow/proto/integrations/v1/actions";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { DoubleHandler, DoubleResponse, HttpDouble, RecordedRequest } from "@workflow/testkit";
import type {
  ActionCase,
  ProviderCases,
} from "../../../packages/catalog/tests/cases/action-case.ts";
import { writePath } from "../../../packages/catalog/src/json-path.ts";
import { answerBody } from "../../../packages/catalog/tests/cases/answer-body.ts";
import { expectRequest } from "../../../packages/catalog/tests/cases/expect-request.ts";
import { PROVIDER_CASES } from "../../../packages/catalog/tests/cases/index.ts";
import {
  failureOf,
  outputOf,
  runsOf,
  startActionsHarness,
  stepCall,
} from "./support/actions-harness.ts";
import type { ActionsClient, ActionsHarness } from "./support/actions-harness.ts";

const KEY = "run_1:step:1";

let harness: ActionsHarness;
let server: HttpDouble;
let client: ActionsClient;
/** What the provider answers, test by test. */
let handler: DoubleHandler;

beforeAll(async () => {
  server = await startHttpDouble((request, response) => handler(request, response));
  harness = await startActionsHarness();
  client = await harness.start({
    providers: new Map(PROVIDER_CASES.map((cases) => [cases.provider, settingsOf(cases)])),
  });
});
beforeEach(() => {
  server.requests.length = 0;
});
/** Last, whatever the order of the cases: there are lines of all of them to look at. */
afterAll(() => {
  const logged = harness.logged();
  expect(logged).toContain("ActionsService/ExecuteAction");
  for (const { credentials } of PROVIDER_CASES) {
    for (const value of Object.values(credentials)) expect(logged).not.toContain(value);
  }
});
afterAll(async () => {
  await harness.close();
  await server.close();
});

function baseUrlOf(provider: string): string {
  return `${server.url}/${provider}`;
}

/** The operator's, with our own credentials where the manifest wants some. */
function settingsOf({ provider: id, credentials }: ProviderCases): ProviderSettings {
  const own = Object.entries(manifestOf(id).operatorCredentials ?? {});
  const valueOf = (key: "CLIENT_ID" | "CLIENT_SECRET"): string | undefined => {
    const name = own.find(([, setting]) => setting === providerSettingName(id, key))?.[0];
    return name === undefined ? undefined : credentials[name];
  };
  const [clientId, clientSecret] = [valueOf("CLIENT_ID"), valueOf("CLIENT_SECRET")];
  return {
    baseUrl: baseUrlOf(id),
    ...(clientId === undefined ? {} : { clientId }),
    ...(clientSecret === undefined ? {} : { clientSecret }),
  };
}

/** What a provider answers that exchanges keys for a token; undefined for any other request. */
function answerLogin(
  { provider: id, credentials }: ProviderCases,
  { path }: RecordedRequest,
): DoubleResponse | undefined {
  const { auth } = manifestOf(id);
  const login = auth.kind === "apiKey" ? auth.login : undefined;
  if (login === undefined || path !== `/${id}${login.path}`) return undefined;
  const body = {};
  writePath(body, login.token, credentials["accessToken"]);
  return { body };
}

function manifestOf(id: string): ProviderManifest {
  const provider = findProvider(id);
  if (provider === undefined) throw new Error(`no provider ${id}`);
  return provider;
}

/** Calls an action of a provider for a company that has one connection of it. */
async function callWith(
  cases: ProviderCases,
  { action, inputs }: Pick<ActionCase, "action" | "inputs">,
): Promise<ExecuteActionResponse> {
  const { provider, fields, credentials } = cases;
  const identity = runsOf();
  await harness.connect(identity.companyId, { provider, fields, credentials });
  const call = stepCall({
    action: `${provider}.${action}`,
    inputsJson: JSON.stringify(inputs),
    idempotencyKey: KEY,
  });
  return client.executeAction(call, { identity });
}

function toProviderRequest({ method, path, headers, body }: RecordedRequest) {
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  return {
    method,
    url: server.url + path,
    headers: Object.fromEntries(texts),
    body: body === "" ? undefined : body,
  };
}

function checkRequests(
  cases: ProviderCases,
  { exchanges }: ActionCase,
  requests: readonly RecordedRequest[],
): void {
  const provider = manifestOf(cases.provider);
  expect(requests).toHaveLength(exchanges.length);
  for (const [index, { request: wanted }] of exchanges.entries()) {
    const request = requests[index];
    if (request === undefined) throw new Error(`request ${index} is missing`);
    expectRequest(toProviderRequest(request), provider, wanted, {
      baseUrl: baseUrlOf(cases.provider),
      idempotencyKey: KEY,
      signature: cases.signature,
    });
  }
}

function checkOutcome(answer: ExecuteActionResponse, one: ActionCase, provider: string): void {
  const { failure, refused } = one;
  if (refused !== undefined) {
    expect(failureOf(answer)).toMatchObject({
      code: "INVALID_INPUT",
      details: {
        problems: expect.arrayContaining([
          expect.objectContaining({ path: expect.arrayContaining([refused]) }),
        ]),
      },
    });
  } else if (failure === undefined) {
    expect(outputOf(answer)).toEqual(one.output);
  } else if (answer.outcome?.$case === "pause") {
    // Called too often: the step waits.
    expect(answer.outcome.value.message).toBe(failure.message);
    expect(failure.limited ?? failure.status === 429).toBe(true);
  } else {
    const { status, code, message } = failure;
    // Which of the two it is decides whether the connection is in error afterwards.
    const refused = failure.badCredentials === true ? "CREDENTIALS_REFUSED" : "PROVIDER_ERROR";
    expect(failureOf(answer).code).toBe(refused);
    expect(failureOf(answer).details).toMatchObject({ provider, status, code, message });
    if (failure.badCredentials !== true) {
      expect(failureOf(answer).retryable).toBe(failure.retryable);
    }
  }
}

describe.each(PROVIDER_CASES)("over the wire: $provider", (cases) => {
  it.each(cases.cases.map((one) => [`${one.action} ${one.what ?? ""}`.trim(), one] as const))(
    "%s",
    async (_, one) => {
      let asked = 0;
      const requests: RecordedRequest[] = [];
      handler = (request) => {
        const login = answerLogin(cases, request);
        if (login !== undefined) return login;
        requests.push(request);
        const answer = one.exchanges[asked]?.answer ?? { status: 500 };
        asked += 1;
        const { status, headers } = answer;
        const body = answerBody(answer, baseUrlOf(cases.provider));
        return { ...(status && { status }), ...(headers && { headers }), body: body ?? undefined };
      };
      const answer = await callWith(cases, one);
      checkOutcome(answer, one, cases.provider);
      checkRequests(cases, one, requests);
    },
  );
});

describe("a provider that", () => {
  const stripe = PROVIDER_CASES.find(({ provider }) => provider === "stripe");
  if (stripe === undefined) throw new Error("there are cases of stripe");
  const call = { action: "getCustomer", inputs: { customer: "cus_1" } };

  it("answers HTML fails the step for good, and says so", async () => {
    handler = () => ({ headers: { "content-type": "text/html" }, body: "<html>canary</html>" });
    expect(failureOf(await callWith(stripe, call))).toMatchObject({
      code: "INVALID_ANSWER",
      message: "Stripe: The provider answered 200, but its answer is not JSON but text/html.",
      retryable: false,
      details: { provider: "stripe", status: 200, retryable: false },
    });
  });

  it("answers broken JSON fails the step", async () => {
    handler = () => ({ headers: { "content-type": "application/json" }, body: '{"id":' });
    expect(failureOf(await callWith(stripe, call))).toMatchObject({ code: "INVALID_ANSWER" });
  });

  it("fails in HTML is told by its status, and may be tried again", async () => {
    handler = () => ({ status: 503, headers: { "content-type": "text/html" }, body: "<h1>" });
    expect(failureOf(await callWith(stripe, call))).toMatchObject({
      code: "PROVIDER_ERROR",
      message: "Stripe: The provider answered 503.",
      retryable: true,
      answered: false,
      details: { provider: "stripe", status: 503, code: null },
    });
  });

  it("asks for patience without measure is tried again after a day", async () => {
    handler = () => ({ status: 503, headers: { "retry-after": "1000000000000" } });
    const failure = failureOf(await callWith(stripe, call));
    expect(failure).toMatchObject({ retryable: true, retryAfterMs: 24 * 60 * 60_000 });
  });

  it("answers without an end is cut off at 4 MiB", async () => {
    const sent = Promise.withResolvers<number>();
    handler = async (_, response) => sent.resolve(await sendWithoutEnd(response));
    expect(failureOf(await callWith(stripe, call))).toMatchObject({
      code: "RESPONSE_TOO_LARGE",
      retryable: false,
    });
    const bytes = await sent.promise;
    expect(bytes).toBeGreaterThan(4 * 1024 * 1024);
    expect(bytes).toBeLessThan(64 * 1024 * 1024);
  });

  it("has pages that are larger together than an output may be fails the step", async () => {
    const data = [{ id: "ch_1", note: "x".repeat(3 * 1024 * 1024) }];
    handler = ({ path }) => ({ body: { data, has_more: !path.includes("starting_after") } });
    const lists = { action: "listCharges", inputs: {} };
    const failure = failureOf(await callWith(stripe, lists));
    expect(failure).toMatchObject({
      code: "OUTPUT_TOO_LARGE",
      retryable: false,
      details: { charsMax: 4 * 1024 * 1024 },
    });
    // Two items with their punctuation; it is told before anything else is done with them.
    expect(failure.message).toMatch(/^The step's output is larger than 4 MiB: it has 62915\d\d /);
  });

  // Pages of 0.1 MB have one of 16 MiB, those of 1.2 MB all that a list may have of 32 MiB.
  it.each([
    { chars: 100_000, share: 16 },
    { chars: 1_200_000, share: 4 },
  ])(
    "hangs with the next page of a list holds up no more than its company's share of memory: $chars",
    async ({ chars, share }) => {
      const page = { data: [{ id: "ch_1", note: "x".repeat(chars) }], has_more: true };
      const { promise: letGo, resolve: end } = Promise.withResolvers<void>();
      const companies = [runsOf(newUuid()), runsOf(newUuid())] as const;
      const [busy, other] = companies;
      const tokens = new Map<string, number>();
      handler = async ({ path, headers }) => {
        if (!path.includes("starting_after")) return { body: page };
        const token = headers.authorization ?? "";
        tokens.set(token, (tokens.get(token) ?? 0) + 1);
        await letGo;
        return { body: { data: [], has_more: false } };
      };
      const waiting = (token: string): number => tokens.get(`Bearer ${token}`) ?? 0;
      for (const { companyId } of companies) {
        const credentials = { accessToken: `sk_${companyId}` };
        await harness.connect(companyId, { provider: "stripe", credentials });
      }
      const list = (identity: typeof busy) =>
        client.executeAction(stepCall({ action: "stripe.listCharges" }), { identity });
      const lists = Array.from({ length: share + 4 }, () => list(busy));
      await waitFor(() => waiting(`sk_${busy.companyId}`) >= share);
      // Another company's lists go on meanwhile, and those beyond the share do not.
      lists.push(list(other));
      await waitFor(() => waiting(`sk_${other.companyId}`) === 1);
      expect(waiting(`sk_${busy.companyId}`)).toBe(share);
      end();
      for (const answer of await Promise.all(lists)) outputOf(answer);
      expect(waiting(`sk_${busy.companyId}`)).toBe(share + 4);
    },
  );

  it("hangs is given up when its caller gives up", async () => {
    let hungUp: Promise<unknown> | undefined;
    handler = async (_, response) => {
      hungUp = once(response, "close");
      await hungUp;
    };
    const identity = runsOf(newUuid());
    await harness.connect(identity.companyId, stripe);
    const request = stepCall({ action: "stripe.getCustomer", inputsJson: '{"customer":"cus_1"}' });
    const stop = new AbortController();
    const hanging = client.executeAction(request, { identity, signal: stop.signal });
    const failed = expect(hanging).rejects.toMatchObject({ reason: "UNAVAILABLE" });
    await waitFor(() => hungUp !== undefined);
    stop.abort();
    await failed;
    // The connection to the provider goes with it.
    await hungUp;
    expect(server.requests).toHaveLength(1);
  });
});

/** 10 GB, were nobody to hang up. */
async function sendWithoutEnd(response: ServerResponse): Promise<number> {
  const piece = Buffer.alloc(256 * 1024, "[");
  response.writeHead(200, { "content-type": "application/json" });
  let sent = 0;
  const closed = once(response, "close");
  while (!response.destroyed && sent < 10 * 1024 ** 3) {
    sent += piece.length;
    if (!response.write(piece)) await Promise.race([once(response, "drain"), closed]);
  }
  return sent;
}
