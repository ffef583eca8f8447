import { isUuid } from "@workflow/db";
import { listAuditEvents } from "@workflow/service-gateway/admin";
import type { Command } from "./command.ts";
import { withDatabase } from "./database.ts";
import { UsageError } from "./usage-error.ts";

const INSTALLATION = "installation";
const LIMIT_MAX = 1_000;

/** Events about the whole installation are in no company's log. */
export const auditLogCommand: Command = {
  summary: "Shows the newest events of the installation's audit log, or of a company's.",
  flags: {
    company: { placeholder: "ID", default: INSTALLATION },
    limit: { placeholder: "COUNT", default: "50" },
  },
  async run(settings, values) {
    const given = values.text("company");
    if (given !== INSTALLATION && !isUuid(given)) {
      throw new UsageError("--company must be the id of a company");
    }
    const companyId = given === INSTALLATION ? null : given.toLowerCase();
    const limit = values.wholeNumber("limit", 1, LIMIT_MAX);
    const rows = await withDatabase(settings, (database) =>
      listAuditEvents(database, companyId, limit),
    );
    const events = rows.map(({ changesJson, ...row }) => ({
      ...row,
      changes: JSON.parse(changesJson),
    }));
    const lines = rows.map(
      ({ createdAt, action, actorName, actorId, resourceId, changesJson }) =>
        `${createdAt.toISOString()}  ${action}  ${actorName ?? actorId}  ${resourceId}  ${changesJson}`,
    );
    return {
      json: { events },
      text: lines.length === 0 ? "There is no event." : lines.join("\n"),
    };
  },
};
