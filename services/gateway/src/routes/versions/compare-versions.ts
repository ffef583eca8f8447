import { StepChangeKind } from "@workflow/proto/workflows/v1/versions";
import type {
  ModifiedStep,
  StepChange,
  TextComparison,
} from "@workflow/proto/workflows/v1/versions";
import { z } from "zod";
import { RawJson } from "../../http/write-json.ts";
import type { Writable } from "../../http/write-json.ts";
import { NO_BODY, route } from "../../route.ts";
import { versionNumber } from "./version-number.ts";
import { comparisonSchema } from "./version-schema.ts";

export const compareVersions = route({
  method: "GET",
  path: "/workflows/{id}/versions/compare",
  scope: "workflows:read",
  bucket: "read",
  summary: "Compare two versions of a workflow",
  description: [
    "The answer says whether name, description and trigger differ, and which steps were added, removed or modified.",
    "Steps are compared by their ids.",
    "Both versions have to exist, else NOT_FOUND.",
  ],
  params: { id: "The workflow's id." },
  query: z.object({
    from: versionNumber.describe("The number of one version."),
    to: versionNumber.describe("The number of the other one."),
  }),
  body: NO_BODY,
  responses: {
    200: {
      description: "What differs; steps, nested ones included, by their ids.",
      data: comparisonSchema,
    },
  },
  errors: ["NOT_FOUND"],
  handler: async ({ workflows, call }, { params, query }) => {
    const comparison = await workflows.compareVersions(
      { workflowId: params.id, fromVersion: query.from, toVersion: query.to },
      call,
    );
    return {
      status: 200,
      data: {
        fromVersion: comparison.fromVersion,
        toVersion: comparison.toVersion,
        changes: {
          name: textJson(comparison.name),
          description: textJson(comparison.description),
          trigger: { changed: comparison.triggerChanged },
          steps: {
            added: comparison.addedStepIds,
            removed: comparison.removedStepIds,
            modified: comparison.modifiedSteps.map(({ id }) => id),
            modifiedDetails: comparison.modifiedSteps.map(modifiedJson),
          },
        },
      },
    };
  },
});

function textJson(comparison: TextComparison | undefined): Writable {
  const from = comparison?.from ?? null;
  const to = comparison?.to ?? null;
  return { from, to, changed: from !== to };
}

function modifiedJson({ id, changes, truncated }: ModifiedStep): Writable {
  return { id, changes: changes.map(changeJson), truncated: truncated ? true : undefined };
}

function changeJson({ path, kind, fromJson, toJson }: StepChange): Writable {
  return {
    path,
    kind: KIND_NAMES.get(kind) ?? "unknown",
    from: fromJson === undefined ? undefined : new RawJson(fromJson),
    to: toJson === undefined ? undefined : new RawJson(toJson),
  };
}

const KIND_NAMES: ReadonlyMap<StepChangeKind, string> = new Map([
  [StepChangeKind.ADDED, "added"],
  [StepChangeKind.REMOVED, "removed"],
  [StepChangeKind.CHANGED, "changed"],
  [StepChangeKind.NESTED, "nested"],
  [StepChangeKind.MOVED, "moved"],
]);
