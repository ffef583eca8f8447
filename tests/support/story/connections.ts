import type { OAuthDouble } from "@workflow/testkit";
import { z } from "zod";
import type { Storyteller } from "./storyteller.ts";

const begun = z.looseObject({ connectionId: z.string(), authUrl: z.url() });
const RETURN = "https://app.example.com/settings";

/** The company connects a mailbox and its ledger, and gives the ledger up. */
export async function tellOfConnections(story: Storyteller, oauth: OAuthDouble): Promise<void> {
  const provider = { provider: "google-mail" };
  const told = await story.tell("getAuthUrl", {
    params: provider,
    query: { connectionName: "Mailbox of the office", redirectUrl: RETURN },
  });
  const { authUrl, connectionId } = begun.parse(told);
  const back = await oauth.visit(authUrl);
  await story.tell("authorizationCallback", {
    name: "redirected",
    params: provider,
    query: Object.fromEntries(back.searchParams),
    headers: {},
  });
  const params = { id: connectionId };
  await story.tell("getConnection", { params });
  await story.tell("verifyConnection", { params });
  await story.tell("refreshConnection", { params });
  await story.tell("createConnection", {
    body: { name: "Mailbox of the warehouse", provider: "google-mail" },
  });
  const ledger = await story.make("connectApiKey", {
    params: { provider: "rillet" },
    body: { apiKey: "good-of-org", name: "Ledger" },
  });
  await story.tell("connectApiKey", {
    name: "replaced",
    params: { provider: "rillet" },
    body: { apiKey: "good-new", connectionId: ledger },
  });
  await story.tell("listConnections", { query: { status: "active" } });
  await story.tell("deleteConnection", { params: { id: ledger } });
}
