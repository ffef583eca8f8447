import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Turns } from "@workflow/async";
import {
  answerInside,
  insideForms,
  startCanaries,
  startDnsDouble,
  startSmtpDouble,
} from "@workflow/testkit";
import type { Canaries, DnsDouble, InsideForm, SmtpDouble } from "@workflow/testkit";
import { z } from "zod";
import type { Answer } from "../support/api-client.ts";
import { createActive, runToEnd } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

/*
 * Every place of the API where a tenant names a host, with every way to write an address inside. A new place
 * is one entry of SINKS. Hosts that come with a connection's account are in
 * services/integrations/tests/inside-hosts.test.ts, what the HTTP client itself guarantees in
 * packages/http-client/tests.
 */

/** What came of a form: the code of the error, and its words with all that was said beside them. */
interface Outcome {
  code: string;
  text: string;
}

interface Sink {
  /** Prepares the place; the result tries one form there. */
  prepare(): Promise<(form: InsideForm) => Promise<Outcome>>;
  /** The errors that are clear. */
  codes: readonly string[];
}

let system: WholeSystem;
let dns: DnsDouble;
let mail: SmtpDouble;
let canaries: Canaries;
const forms: InsideForm[] = insideForms(9);
const outcomes = new Map<string, Outcome>();

const SINKS: Record<string, Sink> = {
  "the url of http.request": {
    codes: ["INVALID_URL", "ADDRESS_NOT_ALLOWED", "DNS_FAILED"],
    prepare: () =>
      stepSink({
        type: "action",
        action: "http.request",
        config: { method: "GET", url: "{{input.url}}", followRedirects: 3 },
      }),
  },
  "the url of an e-mail's attachment": {
    codes: ["EMAIL_REJECTED", "EMAIL_FAILED"],
    prepare: () =>
      stepSink({
        type: "email",
        config: {
          to: "a@shop.example",
          subject: "s",
          text: "t",
          attachments: [{ filename: "a.txt", url: "{{input.url}}" }],
        },
      }),
  },
  "the domain of an Odoo connection": {
    codes: ["BAD_REQUEST", "UPSTREAM_ERROR"],
    prepare: async () => async (form) => {
      const body = { apiKey: "canary", domain: form.host };
      const { error, text } = await system.call("POST", "/connections/odoo/api-key", { body });
      return { code: error?.code ?? "taken", text };
    },
  },
  "the url of a new webhook endpoint": {
    codes: ["BAD_REQUEST", "no answer"],
    prepare: async () => {
      const key = await system.createKey(system.acme, ["workflows:write"]);
      // As many tests as may be under way or wait.
      const turns = new Turns({ perTenant: 20 });
      return async (form) => {
        const body = { name: "Receiver", url: form.url };
        const made = await system.call("POST", "/webhook-endpoints", { key, body });
        if (made.error !== undefined) return outcomeOf(made);
        const end = await turns.take("tests", new AbortController().signal);
        return testEndpoint(made, key).finally(end);
      };
    },
  },
  "the url of a changed webhook endpoint": {
    codes: ["BAD_REQUEST", "no answer"],
    prepare: async () => {
      const key = await system.createKey(system.acme, ["workflows:write"]);
      const body = { name: "Receiver", url: "https://receiver.example/" };
      const { data } = await system.call("POST", "/webhook-endpoints", { key, body });
      const { id } = withId.parse(data);
      return async (form) => {
        const path = `/webhook-endpoints/${id}`;
        return outcomeOf(await system.call("PUT", path, { key, body: { url: form.url } }));
      };
    },
  },
};

const withId = z.object({ id: z.string() });
const testResult = z.object({ statusCode: z.number().nullable(), error: z.string().nullable() });

/** A name can only be judged when it is asked for; a test delivery does so. */
async function testEndpoint(made: Answer, key: string): Promise<Outcome> {
  const path = `/webhook-endpoints/${withId.parse(made.data).id}/test`;
  const { data, text } = await system.call("POST", path, { key });
  const { statusCode, error } = testResult.parse(data);
  return { code: statusCode === null && error !== null ? "no answer" : "answered", text };
}

/** A URL that says nothing wrong is only kept. */
function outcomeOf({ error, text }: Answer): Outcome {
  return { code: error?.code ?? "no answer", text };
}

/** A step that is given the form, tried twice: a name may have another address by then. */
async function stepSink(step: object): Promise<(form: InsideForm) => Promise<Outcome>> {
  const retry = { maxAttempts: 2, backoff: "fixed", delayMs: 1, maxDelayMs: 1, jitter: false };
  const steps = [{ id: "call", name: "call", retry, ...step }];
  const workflowId = await createActive(system, { steps });
  return async ({ url }) => {
    const { error, status } = await runToEnd(system, workflowId, { url });
    return { code: error?.code ?? status, text: JSON.stringify(error) };
  };
}

/** Forms of each place that are tried at once, as many as a slow machine answers in time. */
const AT_ONCE = 8;

beforeAll(async () => {
  canaries = await startCanaries();
  dns = await startDnsDouble(answerInside);
  mail = await startSmtpDouble();
  system = await startWholeSystem({
    mail: { smtpUrl: mail.url, emailFrom: "shop@shop.example" },
    outbound: { allowPrivate: false, dnsServers: [dns.address] },
  });
  const real = insideForms(canaries.port);
  await Promise.all(
    Object.entries(SINKS).map(async ([sink, place]) => {
      const attempt = await place.prepare();
      const left = real.values();
      const work = async (): Promise<void> => {
        for (const form of left) outcomes.set(`${sink} ${form.name}`, await attempt(form));
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
    }),
  );
});
afterAll(async () => {
  await system.stop();
  await mail.close();
  await dns.close();
  await canaries.close();
});

it("there are sixty forms and more", () => {
  expect(forms.length).toBeGreaterThan(60);
});

describe.each(Object.keys(SINKS))("%s", (sink) => {
  it.each(forms.map(({ name }) => name))(
    "leads nowhere inside, and says so, when it is %s",
    (name) => {
      const outcome = outcomes.get(`${sink} ${name}`);
      expect(SINKS[sink]?.codes).toContain(outcome?.code);
      // No address that a name has inside is told.
      const resolved = name.startsWith("a name") || name === "a wildcard name";
      if (resolved) expect(outcome?.text).not.toMatch(/127\.0\.0\.1(?!\.nip)|::1|169\.254/);
    },
  );
});

it("nobody has reached the listeners inside, who would have noticed", async () => {
  expect(canaries.connections()).toBe(0);
  expect(mail.messages).toHaveLength(0);
  await fetch(`http://127.0.0.1:${canaries.port}/`).catch(() => undefined);
  expect(canaries.connections()).toBe(1);
});
