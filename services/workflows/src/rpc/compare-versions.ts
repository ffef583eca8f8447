import { jsonEquals } from "@workflow/json";
import { StepChangeKind } from "@workflow/proto/workflows/v1/versions";
import type {
  CompareVersionsRequest,
  VersionComparison,
} from "@workflow/proto/workflows/v1/versions";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { compareSteps } from "../domain/compare-versions.ts";
import type { StepChange } from "../domain/compare-versions.ts";
import { getVersion } from "../store/versions.ts";
import type { VersionRow } from "../store/versions.ts";
import { requireWorkflowKey } from "./workflow-key.ts";

/** Returns the differences of two versions of a workflow. */
export function compareVersions({
  database,
}: ServiceContext): UnaryMethod<CompareVersionsRequest, VersionComparison> {
  return rpc({
    scopes: "workflows:read",
    async handler({ workflowId, fromVersion, toVersion }, context) {
      const key = requireWorkflowKey(workflowId, context);
      const from = await getVersion(database, key, fromVersion);
      const to = await getVersion(database, key, toVersion);
      return compare(from, to);
    },
  });
}

function compare(from: VersionRow, to: VersionRow): VersionComparison {
  const steps = compareSteps(JSON.parse(from.stepsJson), JSON.parse(to.stepsJson));
  return {
    fromVersion: from.version,
    toVersion: to.version,
    name: { from: from.name, to: to.name },
    description: { from: from.description ?? undefined, to: to.description ?? undefined },
    triggerChanged: !jsonEquals(JSON.parse(from.triggerJson), JSON.parse(to.triggerJson)),
    addedStepIds: steps.added,
    removedStepIds: steps.removed,
    modifiedSteps: steps.modified.map(({ id, changes, truncated }) => ({
      id,
      changes: changes.map((change) => ({ ...change, kind: MESSAGE_KIND[change.kind] })),
      truncated,
    })),
  };
}

const MESSAGE_KIND = {
  added: StepChangeKind.ADDED,
  removed: StepChangeKind.REMOVED,
  changed: StepChangeKind.CHANGED,
  nested: StepChangeKind.NESTED,
  moved: StepChangeKind.MOVED,
} as const satisfies Record<StepChange["kind"], StepChangeKind>;
