import { newUuid } from "@workflow/db";
import { z } from "zod";
import type { WholeSystem } from "./whole-system.ts";

const made = z.object({ id: z.string() });

/** A connection of our own finance application, which is active without asking anybody; its id. */
export async function makeFinanceConnection(system: WholeSystem, key: string): Promise<string> {
  // One connection may have an account.
  const externalAccountId = `acct_${newUuid()}`;
  const body = { name: "Ledger", provider: "finance", externalAccountId };
  const { data } = await system.call("POST", "/connections", { key, body });
  return made.parse(data).id;
}
