import type { WorkflowVersion } from "@workflow/proto/workflows/v1/versions";
import { rawOrNull } from "../../http/write-json.ts";
import type { Writable } from "../../http/write-json.ts";

/** A version record as the contract shows it. */
export function versionJson(version: WorkflowVersion): { readonly [field: string]: Writable } {
  return {
    version: version.version,
    name: version.name,
    description: version.description ?? null,
    trigger: rawOrNull(version.triggerJson),
    steps: rawOrNull(version.stepsJson),
    changeSummary: version.changeSummary ?? null,
    status: version.isCurrent ? "current" : "archived",
    isCurrent: version.isCurrent,
    createdAt: version.createdAt,
  };
}
