import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import { startHttpDouble } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble } from "@workflow/testkit";
import {
  failureOf,
  outputOf,
  runsOf,
  startActionsHarness,
  stepCall,
} from "./support/actions-harness.ts";
import type { ActionsClient, ActionsHarness } from "./support/actions-harness.ts";

const KEY = 'sk_canary/"key"+é&1';
const MASK = "••••";

/** What servers make of what they were sent before they repeat it. */
const FORMS: Readonly<Record<string, string>> = {
  plain: KEY,
  percent: encodeURIComponent(KEY),
  "percent in lower case": encodeURIComponent(KEY).toLowerCase(),
  "percent twice": encodeURIComponent(encodeURIComponent(KEY)),
  form: new URLSearchParams([["", KEY]]).toString().slice(1),
  hex: Buffer.from(KEY).toString("hex"),
  "hex in capitals": Buffer.from(KEY).toString("hex").toUpperCase(),
  base64: Buffer.from(KEY).toString("base64"),
  base64url: Buffer.from(KEY).toString("base64url"),
  "base64 of a pair": Buffer.from(`user:${KEY}`).toString("base64"),
  "base64 of a header": Buffer.from(`Bearer ${KEY}`).toString("base64"),
  "base64 of base64": Buffer.from(Buffer.from(KEY).toString("base64")).toString("base64"),
  json: JSON.stringify({ key: KEY }),
  "json of json": JSON.stringify(JSON.stringify({ key: KEY })),
  html: KEY.replaceAll("&", "&amp;").replaceAll('"', "&quot;"),
  "other case": KEY.toUpperCase(),
};

let harness: ActionsHarness;
let client: ActionsClient;
let server: HttpDouble;
let handler: DoubleHandler;
const identity = runsOf(newUuid());

beforeAll(async () => {
  server = await startHttpDouble((request, response) => handler(request, response));
  harness = await startActionsHarness();
  client = await harness.start({ providers: new Map([["stripe", { baseUrl: server.url }]]) });
  const credentials = { accessToken: KEY };
  await harness.connect(identity.companyId, { provider: "stripe", credentials });
});
afterAll(async () => {
  await harness.close();
  await server.close();
});

const call = () =>
  client.executeAction(
    stepCall({ action: "stripe.getCustomer", inputsJson: '{"customer":"cus_1"}' }),
    { identity },
  );

describe.each(Object.entries(FORMS))("a provider that repeats the credentials: %s", (_, form) => {
  it("in its answer: they are not in the output, as a value or as a name", async () => {
    handler = () => ({ body: { id: "cus_1", [`a ${form}`]: `b ${form} c` } });
    const output = JSON.stringify(outputOf(await call()));
    expect(output).toContain('"id":"cus_1"');
    expect(output.split(MASK)).toHaveLength(3);
    expect(output).not.toContain(JSON.stringify(form).slice(1, -1));
  });

  it("in its refusal: they are neither in the message nor in the details", async () => {
    handler = () => ({ status: 400, body: { error: { message: `no ${form}`, code: form } } });
    const failure = failureOf(await call());
    expect(failure.message).toContain(MASK);
    expect(failure.details).toMatchObject({ code: expect.stringContaining(MASK) });
    expect(JSON.stringify(failure)).not.toContain(JSON.stringify(form).slice(1, -1));
  });
});
