import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { newUuid, sql } from "@workflow/db";
import type { ExecuteActionResponse } from "@workflow/proto/integrations/v1/actions";
import { startHttpDouble, waitFor } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble } from "@workflow/testkit";
import { outputOf, runsOf, startActionsHarness, stepCall } from "./support/actions-harness.ts";
import type { ActionsClient, ActionsHarness, TestConnection } from "./support/actions-harness.ts";

let harness: ActionsHarness;
/** Two replicas of the service. */
let first: ActionsClient;
let second: ActionsClient;
let server: HttpDouble;
let handler: DoubleHandler;

const stripe: TestConnection = { provider: "stripe", credentials: { accessToken: "sk_canary" } };
const tooMany =
  (headers: Record<string, string>): DoubleHandler =>
  () => ({ status: 429, headers, body: { error: { code: "rate_limit", message: "Slow down" } } });
const fine: DoubleHandler = () => ({ body: { id: "cus_1" } });

beforeAll(async () => {
  server = await startHttpDouble((request, response) => handler(request, response));
  harness = await startActionsHarness();
  const baseUrl = server.url;
  const providers = new Map(["stripe", "hubspot", "github"].map((id) => [id, { baseUrl }]));
  [first, second] = await Promise.all([harness.start({ providers }), harness.start({ providers })]);
});
beforeEach(() => {
  handler = fine;
  server.requests.length = 0;
});
afterAll(async () => {
  await harness.close();
  await server.close();
});

function getCustomer(connectionId: string, hasTurn = false) {
  return stepCall({
    action: "stripe.getCustomer",
    inputsJson: '{"customer":"cus_1"}',
    connection: { stepConnectionId: connectionId },
    hasTurn,
  });
}

/** Milliseconds until the turn; fails the test when the call was made. */
function waitOf({ outcome }: ExecuteActionResponse): number {
  if (outcome?.$case === "pause") return outcome.value.waitMs;
  throw new Error(`Expected a pause, got ${JSON.stringify(outcome)}`);
}

/** A connection that the provider has asked to leave alone for so long. */
async function pausedFor(headers: Record<string, string>, companyId = newUuid()) {
  const identity = runsOf(companyId);
  const connectionId = await harness.connect(companyId, stripe);
  handler = tooMany(headers);
  const waitMs = waitOf(await first.executeAction(getCustomer(connectionId), { identity }));
  handler = fine;
  server.requests.length = 0;
  return { identity, connectionId, waitMs };
}

/** Moves the end of a pause into the past, in place of waiting for it. */
async function endPause(connectionId: string): Promise<void> {
  await harness.database.query(sql.unsafe`
    update integrations.connection_pauses
    set paused_until = clock_timestamp() - interval '1 second'
    where connection_id = ${connectionId}
  `);
}

describe("a provider that is called too often", () => {
  it("says for how long it wants to be left alone; the step is told, in the provider's words", async () => {
    const identity = runsOf();
    const connectionId = await harness.connect(identity.companyId, stripe);
    handler = tooMany({ "retry-after": "30" });
    const { outcome } = await first.executeAction(getCustomer(connectionId), { identity });
    expect(outcome).toMatchObject({ $case: "pause", value: { message: "Slow down" } });
    expect(waitOf({ outcome })).toBeGreaterThan(29_000);
    expect(waitOf({ outcome })).toBeLessThanOrEqual(30_000);
  });

  it("is left alone by all replicas within a second, on that connection", async () => {
    const { identity, connectionId } = await pausedFor({ "retry-after": "300" });
    await waitFor(async () => {
      const answer = await second.executeAction(getCustomer(connectionId), { identity });
      return answer.outcome?.$case === "pause";
    });
    server.requests.length = 0;
    const answers = await Promise.all(
      [first, second].map((client) =>
        client.executeAction(getCustomer(connectionId), { identity }),
      ),
    );
    for (const answer of answers) expect(waitOf(answer)).toBeGreaterThan(200_000);
    expect(server.requests).toEqual([]);
  });

  it("goes on being called on other connections, of the company and of others", async () => {
    const { identity } = await pausedFor({ "retry-after": "30" });
    const own = await harness.connect(identity.companyId, stripe);
    outputOf(await first.executeAction(getCustomer(own), { identity }));
    const stranger = runsOf();
    const foreign = await harness.connect(stranger.companyId, stripe);
    outputOf(await first.executeAction(getCustomer(foreign), { identity: stranger }));
  });

  it("is left alone for a second where it names no time, and longer each time it says so again", async () => {
    const { identity, connectionId, waitMs } = await pausedFor({});
    expect(waitMs).toBeLessThanOrEqual(1_000);
    await endPause(connectionId);
    await waitFor(async () => {
      handler = tooMany({});
      const answer = await first.executeAction(getCustomer(connectionId, true), { identity });
      // Only an answer of the provider has its words; a known pause says nothing.
      if (answer.outcome?.$case !== "pause" || answer.outcome.value.message === undefined)
        return false;
      expect(answer.outcome.value).toMatchObject({ message: "Slow down" });
      expect(answer.outcome.value.waitMs).toBeGreaterThan(1_000);
      return true;
    });
  });

  it.each(["0", "0.001"])(
    "is asked less and less often where it names no time to speak of: %s",
    async (retryAfter) => {
      const { identity, connectionId, waitMs } = await pausedFor({ "retry-after": retryAfter });
      let last = waitMs;
      handler = tooMany({ "retry-after": retryAfter });
      for (let strike = 2; strike <= 5; strike += 1) {
        await endPause(connectionId);
        last = await waitFor(async () => {
          const answer = await first.executeAction(getCustomer(connectionId, true), { identity });
          return answer.outcome?.$case === "pause" && answer.outcome.value.message !== undefined
            ? answer.outcome.value.waitMs
            : null;
        });
      }
      // Doubled four times; the query's own time is off what is told.
      expect(last).toBeGreaterThan(8 * waitMs);
    },
  );

  it("is asked again after an hour at the latest", async () => {
    const { waitMs } = await pausedFor({ "retry-after": "86400" });
    expect(waitMs).toBeLessThanOrEqual(3_600_000);
  });

  it("may say so in its own way: by a header of its own with the status that its manifest names", async () => {
    const identity = runsOf();
    const github: TestConnection = {
      provider: "github",
      credentials: { accessToken: "gh_canary" },
    };
    const connectionId = await harness.connect(identity.companyId, github);
    const reset = Math.floor(Date.now() / 1000) + 40;
    handler = () => ({
      status: 403,
      headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(reset) },
      body: { message: "API rate limit exceeded" },
    });
    const request = stepCall({
      action: "github.listIssues",
      inputsJson: '{"owner":"a","repo":"b"}',
      connection: { stepConnectionId: connectionId },
    });
    const waitMs = waitOf(await first.executeAction(request, { identity }));
    expect(waitMs).toBeGreaterThan(30_000);
    expect(waitMs).toBeLessThanOrEqual(40_000);
  });
});

describe("steps that wait for a connection", () => {
  it("get turns one after the other, over all replicas, and not all at once", async () => {
    const { identity, connectionId } = await pausedFor({ "retry-after": "30" });
    const asked = performance.now();
    const calls = Array.from({ length: 60 }, async (_, index) => {
      const client = index % 2 === 0 ? first : second;
      const { outcome } = await client.executeAction(getCustomer(connectionId), { identity });
      if (outcome?.$case !== "pause") return [];
      const { waitMs } = outcome.value;
      return [{ earliest: asked + waitMs, latest: performance.now() + waitMs }];
    });
    const turns = (await Promise.all(calls)).flat();
    // The second replica may have made some calls before it had heard of the pause.
    expect(turns.length).toBeGreaterThanOrEqual(30);
    // Turns are 50 ms apart: one behind the other, they are spread over more than a second.
    const [from, to] = [
      Math.min(...turns.map(({ earliest }) => earliest)),
      Math.max(...turns.map(({ latest }) => latest)),
    ];
    expect(to - from).toBeGreaterThan(1_000);
  });

  it("go on when their turn has come, while later ones get later turns", async () => {
    const { identity, connectionId } = await pausedFor({ "retry-after": "30" });
    await endPause(connectionId);
    await waitFor(async () => {
      const answer = await first.executeAction(getCustomer(connectionId, true), { identity });
      return answer.outcome?.$case === "outputJson";
    });
    // Others have turns before this one, which has none yet.
    waitOf(await first.executeAction(getCustomer(connectionId), { identity }));
  });

  it("many refusals at the same time count once", async () => {
    const identity = runsOf();
    const connectionId = await harness.connect(identity.companyId, stripe);
    let arrived = 0;
    const { promise: allThere, resolve: letGo } = Promise.withResolvers<void>();
    handler = async (request, response) => {
      arrived += 1;
      if (arrived === 20) letGo();
      await allThere;
      return tooMany({})(request, response);
    };
    const calls = Array.from({ length: 20 }, () =>
      first.executeAction(getCustomer(connectionId), { identity }),
    );
    const waits = (await Promise.all(calls)).map(waitOf);
    // A second, and a turn for each: twenty strikes would have made it a minute.
    expect(Math.max(...waits)).toBeLessThan(3_000);
  });

  it("a request of a step's own making waits as well, and its answer may pause the others", async () => {
    const identity = runsOf();
    const connectionId = await harness.connect(identity.companyId, stripe);
    const reported = await first.reportAnswer(
      { connectionId, status: 429, headers: { "retry-after": "30" }, ageMs: 5 },
      { identity },
    );
    expect(reported.pause?.waitMs).toBeGreaterThan(28_000);
    const request = { connection: { stepConnectionId: connectionId }, hasTurn: false };
    const { outcome } = await first.authorizeRequest(request, { identity });
    expect(outcome?.$case).toBe("pause");
    const fine = { connectionId, status: 404, headers: {}, ageMs: 5 };
    expect((await first.reportAnswer(fine, { identity })).pause).toBeUndefined();
    const foreign = { connectionId, status: 429, headers: {}, ageMs: 5 };
    expect((await first.reportAnswer(foreign, { identity: runsOf() })).pause).toBeUndefined();
  });
});
