import { z } from "zod";
import { choice, flag, json, list, text } from "../action-input.ts";
import type { ActionInput } from "../action-input.ts";
import type { ProviderManifest } from "../provider-manifest.ts";
import type { BlockSource } from "./block.ts";

/** The constant `type` or `provider` of a trigger in this block. */
function fixed(key: string, id: string, label: string): ActionInput {
  return choice(key, [{ id, label }], { required: true });
}

const path = text("path", {
  required: true,
  description: "Tells webhook triggers apart; provider events arrive under any path",
});

const api: BlockSource = {
  type: "api",
  name: "API call",
  description:
    "Starts a run for each call of POST /workflows/{id}/run, with the input of the call.",
  kind: "triggers",
  inputs: [fixed("type", "api", "API call")],
};

const manual: BlockSource = {
  type: "manual",
  name: "Manual start",
  description: "Starts a run when somebody starts it.",
  kind: "triggers",
  inputs: [fixed("type", "manual", "Manual start")],
};

const schedule: BlockSource = {
  type: "schedule",
  name: "Schedule",
  description:
    "Starts runs by the clock: by a cron pattern or at an interval, exactly one of them. {{trigger.scheduledAt}} and {{trigger.scheduleId}} tell which firing it was.",
  kind: "triggers",
  inputs: [
    fixed("type", "schedule", "Schedule"),
    text("cron", {
      requiredWithout: ["interval"],
      notWith: ["interval"],
      description: "Five fields, in the time zone of the schedule",
    }),
    json("interval", {
      requiredWithout: ["cron"],
      notWith: ["cron"],
      description: "{value, unit}",
      schema: z.object({
        value: z.int().min(1),
        unit: z.enum(["minutes", "hours", "days", "weeks"]),
      }),
    }),
    text("timezone", {
      title: "Time zone",
      description: "IANA time zone; UTC where none is given",
    }),
    flag("enabled", { description: "Whether the schedule fires; true by default" }),
    json("input", { description: "The input of its runs" }),
    choice("overlap", ["allow", "skip"], {
      description: "What happens while an earlier run is active; allow by default",
    }),
    choice("catchUp", ["none", "last"], {
      title: "Catch up",
      description: "Which missed firings are made up for; none by default",
    }),
  ],
};

const tableRow: BlockSource = {
  type: "table-trigger",
  name: "Table row",
  description: "Starts a run for each change of a row of a data table that tells of them.",
  kind: "triggers",
  category: "data",
  inputs: [
    fixed("type", "table", "Table row"),
    text("tableId", { title: "Table", required: true, description: "Id of the table" }),
    list("events", {
      of: z.enum(["row_created", "row_updated", "row_deleted"]),
      min: 1,
      description: "Which changes count; all by default",
    }),
  ],
  outputs: ["event", "tableId", "rowId", "position", "data", "previousData"],
};

const customWebhook: BlockSource = {
  type: "webhook",
  name: "Webhook",
  description:
    "Starts a run for each request to /webhooks/custom/{companyId}/{path}. The run's input is the body; {{trigger.headers}} and {{trigger.query}} have the rest.",
  kind: "triggers",
  inputs: [
    fixed("type", "webhook", "Webhook"),
    choice("provider", [{ id: "custom", label: "Any sender" }]),
    { ...path, description: "The last part of the address; choose one that is hard to guess" },
  ],
};

/** Triggers that belong to no provider. */
export const OWN_TRIGGERS: readonly BlockSource[] = [
  api,
  manual,
  schedule,
  tableRow,
  customWebhook,
];

/** Providers that send their events to a route of their own (D40). */
const WITH_A_ROUTE: ReadonlySet<string> = new Set([
  "stripe",
  "resend",
  "airwallex",
  "hubspot",
  "finance",
]);

/** The trigger of a provider that can start runs: over a route of its own, or through the OAuth broker. */
export function triggerOf({ id, name, category, auth }: ProviderManifest): BlockSource | undefined {
  if (auth.kind !== "oauth" && !WITH_A_ROUTE.has(id)) return undefined;
  return {
    type: `${id}-trigger`,
    name: `${name} event`,
    description: `Starts a run for each event that ${name} sends for a connected account. The events are chosen at the provider.`,
    kind: "triggers",
    category,
    connectionRequired: true,
    inputs: [fixed("type", "webhook", "Webhook"), fixed("provider", id, name), path],
    outputs: ["eventType", "externalEventId", "data"],
  };
}
