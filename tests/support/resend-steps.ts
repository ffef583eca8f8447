import { afterAll, afterEach, beforeAll, beforeEach, expect } from "@jest/globals";
import { startHttpDouble } from "@workflow/testkit";
import type { DoubleHandler, HttpDouble, RecordedRequest } from "@workflow/testkit";
import { z } from "zod";
import { createActive, runToEnd } from "./scenarios.ts";
import { startWholeSystem } from "./whole-system.ts";
import type { Company, WholeSystem } from "./whole-system.ts";

/** The key of the usual connection; no line of a log may hold its "canary". */
export const KEY = "re_canary/key+1";

/** The input of the runs. */
export const input = { email: "ada@example.com" };

/** The step `call`, with an action. */
export const step = (action: string, config: object, more: object = {}) => ({
  id: "call",
  type: "action",
  name: "call",
  action,
  config,
  ...more,
});

/** A step that creates a contact for the address of the input. */
export const createContact = (config: object, more: object = {}) =>
  step("resend.createContact", { email: "{{input.email}}", ...config }, more);

/** A step that sends an e-mail, which its idempotency key makes once; contacts have no such key. */
export const sendEmail = (config: object, more: object = {}) =>
  step(
    "resend.sendEmail",
    { from: "billing@acme.example", to: "{{input.email}}", subject: "Paid", text: "-", ...config },
    more,
  );

const createdContact: DoubleHandler = () => ({ body: { object: "contact", id: "c_1" } });

/** One system for the cases of a file whose provider Resend is a double, as is a host that is not Resend's. */
export function useResend() {
  let system: WholeSystem;
  let server: HttpDouble;
  let elsewhere: HttpDouble;
  let handler = createdContact;
  const logged: string[] = [];
  /** The connections of the case under way. */
  const connected: { id: string; company: Company }[] = [];

  beforeAll(async () => {
    elsewhere = await startHttpDouble();
    server = await startHttpDouble((request, response) =>
      request.path === "/resend/domains" ? { body: { data: [] } } : handler(request, response),
    );
    system = await startWholeSystem({
      providers: new Map([["resend", { baseUrl: `${server.url}/resend` }]]),
      log: { write: (line) => void logged.push(line) },
    });
  });
  beforeEach(() => {
    handler = createdContact;
    server.requests.length = 0;
  });
  // A step without a connection lists ten candidates: connections of earlier cases would crowd out its own.
  afterEach(() => disconnectAll(system, connected.splice(0)));
  afterAll(async () => {
    await system.stop();
    await server.close();
    await elsewhere.close();
    expectNoCanaryIn(logged.join(""));
  });

  return {
    get system() {
      return system;
    },
    /** Resend; its answers to steps are those of the handler. */
    get server() {
      return server;
    },
    /** A host that is not Resend's. */
    get elsewhere() {
      return elsewhere;
    },
    set handler(next: DoubleHandler) {
      handler = next;
    },
    /** Connects Resend and forgets the requests of that; returns the connection's id. */
    async connect(apiKey = KEY, company: Company = system.acme): Promise<string> {
      const id = await connect(system, apiKey, company);
      server.requests.length = 0;
      connected.push({ id, company });
      return id;
    },
    /** Runs a workflow of these steps to its end. */
    run: async (steps: readonly object[], given: object = input) =>
      runToEnd(system, await createActive(system, { steps }), given),
    onlyRequest: () => onlyOf(server.requests),
  };
}

/** The log of all cases tells of actions, and holds no key. */
function expectNoCanaryIn(logged: string): void {
  expect(logged).toContain("ActionsService/");
  expect(logged).not.toContain("canary");
}

async function connect(system: WholeSystem, apiKey: string, { key }: Company): Promise<string> {
  const body = { apiKey, name: `Mail ${apiKey.length}` };
  const answer = await system.call("POST", "/connections/resend/api-key", { key, body });
  expect(answer.status).toBe(201);
  return z.object({ id: z.string() }).parse(answer.data).id;
}

async function disconnectAll(
  system: WholeSystem,
  connections: readonly { id: string; company: Company }[],
): Promise<void> {
  for (const { id, company } of connections) {
    const answer = await system.call("DELETE", `/connections/${id}`, { key: company.key });
    expect([200, 404]).toContain(answer.status);
  }
}

function onlyOf([request, ...others]: readonly RecordedRequest[]): RecordedRequest {
  if (request === undefined || others.length > 0) {
    throw new Error(`Expected one request, got ${request === undefined ? 0 : 1 + others.length}`);
  }
  return request;
}
