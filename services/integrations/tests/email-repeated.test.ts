import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { startHttpDouble } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble } from "@workflow/testkit";
import { personOf, runsOf, startActionsHarness } from "./support/actions-harness.ts";
import type { ActionsClient, ActionsHarness, TestConnection } from "./support/actions-harness.ts";
import { message } from "./support/email-harness.ts";

const companyId = newUuid();
const identity = runsOf(companyId);

let harness: ActionsHarness;
let client: ActionsClient;
let host: HttpDouble;
let answer: DoubleHandler;

beforeAll(async () => {
  host = await startHttpDouble((request, response) => answer(request, response));
  harness = await startActionsHarness();
  const ids = ["resend", "google-mail"];
  client = await harness.start({
    providers: new Map(ids.map((id) => [id, { baseUrl: host.url }])),
  });
});
beforeEach(() => {
  host.requests.length = 0;
  answer = () => ({ body: { id: "18c2f1a7b3d4e5f6" } });
});
afterAll(async () => {
  await harness.close();
  await host.close();
});

/** A message and what came of it, through a connection that may send no more afterwards. */
async function sendOnceWith(connection: TestConnection) {
  const connectionId = await harness.connect(companyId, connection);
  const request = message({ from: "ada@own.example", connectionId, idempotencyKey: newUuid() });
  return { connectionId, request, sent: await client.sendEmail(request, { identity }) };
}

const resend: TestConnection = { provider: "resend", credentials: { apiKey: "re_canary" } };
const gmail: TestConnection = { provider: "google-mail", credentials: { accessToken: "ya29" } };

describe("a message that was sent", () => {
  it.each([
    ["removed", resend],
    ["disconnected", gmail],
  ])("has the same outcome again when its connection is %s", async (_, connection) => {
    const { connectionId, request, sent } = await sendOnceWith(connection);
    expect(sent).toMatchObject({ messageId: "18c2f1a7b3d4e5f6", failure: undefined });
    await client.deleteConnection({ connectionId }, { identity: personOf(companyId) });
    expect(await client.sendEmail(request, { identity })).toEqual(sent);
    expect(host.requests).toHaveLength(1);
    const other = { ...request, idempotencyKey: newUuid() };
    const { failure } = await client.sendEmail(other, { identity });
    expect(failure?.code).toBe("CONNECTION_NOT_FOUND");
  });

  it("has the same outcome again while its connection is paused, and takes no turn", async () => {
    const { request, sent } = await sendOnceWith(resend);
    answer = () => ({ status: 429, headers: { "retry-after": "300" } });
    const other = { ...request, idempotencyKey: newUuid() };
    expect((await client.sendEmail(other, { identity })).pause).toBeDefined();
    expect(await client.sendEmail(request, { identity })).toEqual(sent);
  });
});
