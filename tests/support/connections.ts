import { z } from "zod";
import type { WholeSystem } from "./whole-system.ts";

const made = z.object({ id: z.string() });

/** A connection of our own finance application, which is active without asking anybody; its id. */
export async function makeFinanceConnection(system: WholeSystem, key: string): Promise<string> {
  const body = { name: "Ledger", provider: "finance", externalAccountId: "acct_finance" };
  const { data } = await system.call("POST", "/connections", { key, body });
  return made.parse(data).id;
}
