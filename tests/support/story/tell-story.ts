import {
  startDnsDouble,
  startHttpDouble,
  startOAuthDouble,
  startOpenAiDouble,
} from "@workflow/testkit";
import type { Told } from "../description/description.ts";
import { startProviderDouble } from "../provider-double.ts";
import { startWholeSystem } from "../whole-system.ts";
import { tellOfAgents } from "./agents.ts";
import { asShown } from "./as-shown.ts";
import { tellOfConnections } from "./connections.ts";
import { tellOfDashboards } from "./dashboards.ts";
import { tellOfKeys, tellOfPeople } from "./people.ts";
import { tellOfApprovals, tellOfRuns } from "./runs.ts";
import type { Shop } from "./runs.ts";
import { Storyteller } from "./storyteller.ts";
import { tellOfTables } from "./tables.ts";
import { tellOfEndpoints, tellOfEvents } from "./webhooks.ts";
import { tellOfSchedule, tellOfVersions, tellOfWorkflow } from "./workflows.ts";

const CLIENT = { clientId: "our-client", clientSecret: "our-client-secret" };

/**
 * Plays the story of one company on a whole system of its own: it writes a workflow that books orders, runs it,
 * hears of it, and cleans up. Returns each request with its answer, as readers of the description see them.
 */
export async function tellStory(): Promise<Told[]> {
  const shop = await startShop();
  const receiver = await startHttpDouble(() => ({ headers: { date: "" }, body: { ok: true } }));
  const [providers, openai, dns, oauth] = await Promise.all([
    startProviderDouble(),
    startOpenAiDouble(),
    startDnsDouble(() => "NXDOMAIN"),
    startOAuthDouble({ ...CLIENT, issuer: "https://accounts.google.com" }),
  ]);
  const mail = { ...CLIENT, oauthBaseUrl: oauth.url, baseUrl: `${providers.url}/google-mail` };
  const system = await startWholeSystem({
    providers: new Map([...providers.settings, ["google-mail", mail]]),
    agents: { openai },
    outbound: { allowPrivate: true, dnsServers: [dns.address] },
  });
  try {
    const story = new Storyteller(system);
    const tableId = await tellOfTables(story);
    const workflowId = await tellOfWorkflow(story, shop.url);
    await tellOfRuns(story, workflowId, shop);
    await tellOfApprovals(story);
    await tellOfEndpoints(story, receiver.url, workflowId);
    await tellOfEvents(story);
    await tellOfVersions(story, workflowId);
    await tellOfSchedule(story);
    await tellOfAgents(story, openai);
    await tellOfConnections(story, oauth);
    const headers = await tellOfPeople(story);
    await tellOfDashboards(story, headers, tableId);
    await tellOfCatalog(story, workflowId);
    await tellOfKeys(story, headers);
    return asShown(story.told, [
      [system.origin, "https://workflows.example.com"],
      [shop.url, "https://shop.example.com"],
      [receiver.url, "https://hooks.example.com"],
      [oauth.url, "https://accounts.google.com"],
      ["gpt-test", "gpt-5.5"],
    ]);
  } finally {
    await system.stop();
    for (const double of [shop, receiver, providers, openai, dns, oauth]) await double.close();
  }
}

async function startShop(): Promise<Shop & { close: () => Promise<void> }> {
  let booked = 4710;
  const double = await startHttpDouble(() => {
    if (!shop.isOpen) return { status: 503, body: { message: "The shop is closed." } };
    booked += 1;
    return { status: 201, body: { order: String(booked) } };
  });
  const shop = { url: double.url, isOpen: true, close: () => double.close() };
  return shop;
}

/** Tells the requests of editors, and the log of the workflow. */
async function tellOfCatalog(story: Storyteller, workflowId: string): Promise<void> {
  await story.tell("listBlocks", { query: { kind: "triggers" } });
  await story.tell("getBlock", { params: { type: "http" } });
  const path = `/audit-logs?resourceId=${workflowId}&action=workflow.activated`;
  await story.waitUntil(path, (data) => (Array.isArray(data) && data.length > 0 ? true : null));
  await story.tell("listAuditLogs", {
    query: { resourceId: workflowId, action: "workflow.activated" },
  });
}
