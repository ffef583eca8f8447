import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Semaphore } from "@workflow/async";
import { newUuid } from "@workflow/db";
import {
  answerInside,
  insideForms,
  startCanaries,
  startDnsDouble,
  startHttpDouble,
} from "@workflow/testkit";
import type { Canaries, DnsDouble, HttpDouble, InsideForm } from "@workflow/testkit";
import { failureOf, runsOf, startActionsHarness, stepCall } from "./support/actions-harness.ts";
import type { ActionsClient, ActionsHarness } from "./support/actions-harness.ts";

/*
 * Hosts of connections, as a provider, the broker or a forged callback may name them, in every spelling of an address
 * inside. A new provider whose host is the account's needs one entry of SINKS.
 */

interface Sink {
  provider: string;
  action: string;
  inputs: (form: InsideForm) => object;
  fields: (form: InsideForm) => Record<string, string>;
}

const PLAIN = {
  odoo: { model: "res.partner", id: 1 },
  resend: { from: "a@own.example", to: "b@x.example", subject: "s", text: "t" },
};

const SINKS: Record<string, Sink> = {
  "the domain of Odoo": {
    provider: "odoo",
    action: "odoo.getRecord",
    inputs: () => PLAIN.odoo,
    fields: ({ host }) => ({ domain: host }),
  },
  "the instance of Salesforce": {
    provider: "salesforce",
    action: "salesforce.query",
    inputs: () => ({ q: "SELECT Id FROM Account" }),
    fields: ({ url }) => ({ instanceUrl: url }),
  },
  "the account of NetSuite": {
    provider: "netsuite",
    action: "netsuite.runSuiteQL",
    inputs: () => ({ q: "SELECT 1" }),
    fields: ({ host }) => ({ accountId: host }),
  },
  "the base of DocuSign": {
    provider: "docusign",
    action: "docusign.getEnvelope",
    inputs: () => ({ envelopeId: newUuid() }),
    fields: ({ url }) => ({ baseUri: url, accountId: newUuid() }),
  },
  "a file of an action": {
    provider: "resend",
    action: "resend.sendEmail",
    inputs: ({ url }) => ({ ...PLAIN.resend, attachments: [{ filename: "a.txt", url }] }),
    fields: () => ({}),
  },
};
const CODES = [
  "INVALID_URL",
  "ADDRESS_NOT_ALLOWED",
  "DNS_FAILED",
  "CONNECT_FAILED",
  "CONNECTION_INCOMPLETE",
  "INVALID_INPUT",
  "FILE_UNAVAILABLE",
];
const FORMS = insideForms(9);

let harness: ActionsHarness;
let client: ActionsClient;
let dns: DnsDouble;
let canaries: Canaries;
let provider: HttpDouble;
let location = "";
let redirect = 302;
const identity = runsOf();
const outcomes = new Map<string, { code: string; text: string }>();

beforeAll(async () => {
  canaries = await startCanaries();
  dns = await startDnsDouble(answerInside);
  provider = await startHttpDouble(({ path }) =>
    path.startsWith("/v1/") ? { status: redirect, headers: { location } } : { body: { id: "1" } },
  );
  harness = await startActionsHarness();
  client = await harness.start({
    outboundDnsServers: [dns.address],
    providers: new Map([
      ["resend", { baseUrl: provider.url }],
      ["stripe", { baseUrl: provider.url }],
    ]),
  });
  const real = insideForms(canaries.port);
  await Promise.all(
    Object.entries(SINKS).flatMap(([sink, each]) =>
      real.map(async (form) =>
        outcomes.set(`${sink} ${form.name}`, await attemptInTurn(each, form)),
      ),
    ),
  );
});
afterAll(async () => {
  await harness.close();
  await dns.close();
  await provider.close();
  await canaries.close();
});

/** Attempts wait here, not for a connection of the database, where a wait of seconds fails them. */
const slots = new Semaphore(10);

async function attemptInTurn(sink: Sink, form: InsideForm) {
  const release = await slots.acquire();
  try {
    return await attempt(sink, form);
  } finally {
    release();
  }
}

async function attempt({ provider: id, action, inputs, fields }: Sink, form: InsideForm) {
  const credentials = { accessToken: "canary", apiKey: "canary" };
  const connection = { provider: id, credentials, fields: fields(form) };
  const stepConnectionId = await harness.connect(identity.companyId, connection);
  const call = stepCall({
    action,
    inputsJson: JSON.stringify(inputs(form)),
    connection: { stepConnectionId },
  });
  const { code, message, details } = failureOf(await client.executeAction(call, { identity }));
  return { code, text: `${message} ${JSON.stringify(details)}` };
}

describe.each(Object.keys(SINKS))("%s", (sink) => {
  it.each(FORMS.map(({ name }) => name))("leads nowhere inside when it is %s", (name) => {
    const outcome = outcomes.get(`${sink} ${name}`);
    expect(CODES).toContain(outcome?.code);
    const resolved = name.startsWith("a name");
    if (resolved) expect(outcome?.text).not.toMatch(/127\.0\.0\.1|::1|169\.254/);
  });
});

it("a provider's redirect leads nowhere inside either, and nobody has reached a listener there", async () => {
  const credentials = { accessToken: "canary" };
  const connection = { provider: "stripe", credentials };
  const stepConnectionId = await harness.connect(identity.companyId, connection);
  const call = stepCall({
    action: "stripe.getCustomer",
    inputsJson: JSON.stringify({ customer: "cus_1" }),
    connection: { stepConnectionId },
  });
  const inside = `127.0.0.1:${canaries.port}`;
  const targets = [
    `https://${inside}/`,
    `http://${inside}/`,
    `//${inside}/`,
    `https:\\\\${inside}\\`,
  ];
  for (const status of [301, 302, 303, 307, 308]) {
    for (const target of targets) {
      [redirect, location] = [status, target];
      const { code } = failureOf(await client.executeAction(call, { identity }));
      expect(["REDIRECT_REFUSED", "INVALID_URL", "ADDRESS_NOT_ALLOWED"]).toContain(code);
    }
  }
  expect(canaries.connections()).toBe(0);
  await fetch(`http://${inside}/`).catch(() => undefined);
  expect(canaries.connections()).toBe(1);
});
