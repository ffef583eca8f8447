import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { STEP_TYPES } from "@workflow/definition";
import { ROUTES } from "@workflow/service-gateway/routes";
import { nameOf } from "../support/route-requests.ts";
import { waitForAudit } from "../support/audit-log.ts";
import { ACTION_EXAMPLES } from "../support/step-examples.ts";
import { makeCompanies, openClient } from "./client.ts";
import { gatherEvidence, PLACES } from "./evidence.ts";
import type { Report } from "./evidence.ts";
import { BOTH, CONTROLS, INPUT, LANDMARKS, REQUEST_ID, USED } from "./expected.ts";
import { newCore } from "./finder.ts";
import { prepareInstallation } from "./installation.ts";
import type { Installation } from "./installation.ts";
import { lookIntoFiles, lookIntoRunning, lookOutside } from "./search-places.ts";
import { SHOWN_NAMES } from "./shown-by-contract.ts";
import { makeAgents, tourAgents } from "./tour/agents.ts";
import { connectAccounts, connectByBroker, hideTokens } from "./tour/connecting.ts";
import { readAudit, tourFailingStarts, tourOperator } from "./tour/operator.ts";
import { tourPeople } from "./tour/people.ts";
import { tourRoutes } from "./tour/routes.ts";
import { tourRpc } from "./tour/rpc.ts";
import { tourSteps } from "./tour/steps.ts";
import type { StepKinds } from "./tour/steps.ts";
import { tourWebhooks } from "./tour/webhooks.ts";

/*
 * One canary through everything: a value of its own in every place where a secret can be, then all that the
 * system can do, as strangers start it; and none of the values is anywhere that people can look.
 */

const TOUR_TIMEOUT_MS = 600_000;

/** In the ids of requests, and in the input of runs: no secrets, so a search that sees them sees at all. */
const requestId = newCore();
const note = newCore();
const evidence = gatherEvidence();
evidence.control(REQUEST_ID, requestId);
evidence.control(INPUT, note);
for (const landmark of Object.values(LANDMARKS)) evidence.control(landmark, landmark);

let installation: Installation;
let kinds: StepKinds;
let report: Report;

beforeAll(async () => {
  installation = await prepareInstallation(evidence, requestId);
  await tour();
  await installation.close();
  report = evidence.search();
}, TOUR_TIMEOUT_MS);
afterAll(() => installation?.close());

async function tour(): Promise<void> {
  const { hide, world } = installation;
  await tourFailingStarts(installation);
  // With applications of our own, then with the broker in their place: it is one or the other.
  await installation.start("first start");
  const companies = await makeCompanies(installation);
  const before = await openClient(installation, companies);
  const token = await tourOperator(installation, before);
  const own = await connectAccounts(installation, before);
  await before.stop();
  await lookIntoRunning(evidence, installation);
  await installation.stop();

  const { secretKey, url } = installation.broker;
  await installation.start("start with the broker", {
    NANGO_SECRET_KEY: secretKey,
    NANGO_BASE_URL: url,
  });
  const client = await openClient(installation, companies);
  await tourPeople(client, hide);
  const connections = { ...own, ...(await connectByBroker(installation, client)) };
  hideTokens(evidence, installation);
  const agents = await makeAgents(client);
  const worldUrl = world.url;
  const stepsTour = { client, hide, note, worldUrl, connections, agents, installation };
  const steps = await tourSteps(stepsTour);
  kinds = steps.kinds;
  const known = await tourAgents(client, agents, note);
  const { settings } = installation;
  const webhooks = await tourWebhooks({ client, evidence, hide, settings, worldUrl, note });
  await tourRoutes(client, {
    hide,
    runIds: steps.runIds,
    known: { ...known, ...webhooks },
    note,
  });
  await tourRpc(evidence, client, token, hide, steps.fields);
  hideTokens(evidence, installation);
  await waitForAudit(client);
  await readAudit(installation, client);
  await client.stop();
  await lookIntoRunning(evidence, installation);
  await installation.stop();
  await lookIntoFiles(evidence, installation);
  lookOutside(evidence, installation);
}

describe("the tour", () => {
  it("has been at every route", () => {
    const { answered } = installation.tap;
    const missed = ROUTES.filter(({ method, path }) => {
      const form = path.replaceAll(/\{\w+\}/g, "[^/ ]+");
      const pattern = new RegExp(`^${method} /api/v1${form} 2\\d\\d$`);
      return !answered.some((title) => pattern.test(title));
    });
    expect(missed.map(nameOf)).toEqual([]);
  });

  it("has seen a step of every kind succeed, and fail", () => {
    const types = STEP_TYPES.map(({ type }) => type).filter((type) => type !== "action");
    const actions = Object.keys(ACTION_EXAMPLES).map((action) => `action ${action}`);
    const all = [...types, ...actions].toSorted();
    const missing = (of: ReadonlySet<string>) => all.filter((kind) => !of.has(kind));
    expect(missing(kinds.success)).toEqual([]);
    expect(missing(kinds.error)).toEqual([]);
  });

  it("was shown what the contract shows, where it does", () => {
    expect(SHOWN_NAMES.filter((name) => !report.shown.has(name))).toEqual([]);
  });
});

describe("a secret", () => {
  it("that somebody outside is to get has been sent there", () => {
    expect(USED.filter((name) => !report.used.has(name))).toEqual([]);
  });

  it("that is bound to another host was sent nowhere (D66)", () => {
    expect([...report.used]).not.toContain("secret of another host");
  });
});

describe("what is no secret", () => {
  it.each(PLACES.map((place) => ({ place })))("is found: $place", ({ place }) => {
    const seen = [...(report.controls.get(place) ?? [])];
    expect(seen.filter((name) => BOTH.includes(name)).toSorted()).toEqual(CONTROLS[place]);
    const landmark = LANDMARKS[place];
    if (landmark !== undefined) expect(seen).toContain(landmark);
  });
});

it("no secret is anywhere that people can look", () => {
  const byCanary = Map.groupBy(report.leaks, ({ canary, place }) => `${canary}, in ${place}`);
  const shown = [...byCanary].map(([leak, all]) => {
    const [{ excerpt } = { excerpt: "" }] = all;
    return { leak, in: all.slice(0, 5).map(({ what }) => what), excerpt };
  });
  expect(shown).toEqual([]);
});
