import { sql } from "@workflow/db";
import type { Database } from "@workflow/db";
import { listRevocationsOf } from "@workflow/rpc";
import { listRevocations } from "@workflow/service-gateway/admin";
import { z } from "zod";
import { actAs } from "./act-as.ts";
import type { Command } from "./command.ts";
import { withDatabase } from "./database.ts";
import { readPastTime } from "./point-in-time.ts";
import { LIST_FORMAT } from "./revocation-list.ts";

/** Every service has the whole list of tokens. */
const ANY_SERVICE = "runs";

const clock = z.object({ now: z.date() });

/** To be kept beside a backup, and to be applied to a database that was restored from it (ADR 77). */
export const listRevocationsCommand: Command = {
  summary:
    "Lists what was revoked since a time; keep the output of --json for apply-revocations after a restore.",
  flags: { since: { placeholder: "TIME" } },
  async run(settings, values) {
    const since = readPastTime(values, "since", new Date());
    const list = await withDatabase(settings, async (database) => {
      // Sessions that begin from now on are no business of this list.
      const { now: listedAt } = await database.one(sql.type(clock)`select now() as now`);
      const companies = await listRevocations(database, since);
      return { listedAt, companies, tokens: await listTokens(database) };
    });
    const { listedAt, companies, tokens } = list;
    const keys = companies.reduce((sum, { apiKeys }) => sum + apiKeys.length, 0);
    const members = companies.reduce((sum, company) => sum + company.members.length, 0);
    const followUps = companies.reduce((sum, company) => sum + company.followUps.length, 0);
    return {
      json: { format: LIST_FORMAT, since, listedAt, companies, tokens },
      text: [
        `API keys revoked      ${keys}`,
        `Members changed       ${members}`,
        `Tokens revoked        ${tokens.length} (whenever that was)`,
        `To be done by people  ${followUps}`,
        "--json prints the list itself.",
      ].join("\n"),
    };
  },
};

function listTokens(database: Database) {
  return database.transaction(async (transaction) => {
    await actAs(transaction, ANY_SERVICE);
    return listRevocationsOf(transaction, ANY_SERVICE);
  });
}
