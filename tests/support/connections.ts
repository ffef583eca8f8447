import { newUuid } from "@workflow/db";
import { z } from "zod";
import type { WholeSystem } from "./whole-system.ts";

const made = z.object({ id: z.string() });

/** Makes a connection of our finance application, which is active at once; returns its id. */
export async function makeFinanceConnection(system: WholeSystem, key: string): Promise<string> {
  // An account has at most one connection.
  const externalAccountId = `acct_${newUuid()}`;
  const body = { name: "Ledger", provider: "finance", externalAccountId };
  const { data } = await system.call("POST", "/connections", { key, body });
  return made.parse(data).id;
}
