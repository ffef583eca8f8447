import type { WorkflowVersion } from "@workflow/proto/workflows/v1/versions";
import type { VersionRow } from "../store/versions.ts";

/** The message for a stored version; JSON goes into it as text. */
export function toVersionMessage(row: VersionRow): WorkflowVersion {
  return {
    version: row.version,
    name: row.name,
    description: row.description ?? undefined,
    triggerJson: row.triggerJson,
    stepsJson: row.stepsJson,
    changeSummary: row.changeSummary ?? undefined,
    isCurrent: row.isCurrent,
    createdAt: row.createdAt,
  };
}
