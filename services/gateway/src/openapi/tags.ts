import type { Route } from "../route-table-entry.ts";

interface Tag {
  name: string;
  description: string;
  /** The prefix of its operations' paths; the longest prefix decides. */
  paths: readonly string[];
}

/** The groups of operations, in the order of the pages. */
export const TAGS: readonly Tag[] = [
  {
    name: "Blocks",
    description:
      "The catalog of what workflows are made of: steps, triggers and actions of providers.",
    paths: ["/blocks"],
  },
  {
    name: "Workflows",
    description: "Definitions: a trigger and steps in order. Only active workflows run.",
    paths: ["/workflows"],
  },
  {
    name: "Versions",
    description:
      "What a workflow was before: each change of an active one archives its predecessor.",
    paths: ["/workflows/{id}/versions"],
  },
  {
    name: "Schedules",
    description: "When a workflow with a schedule trigger runs.",
    paths: ["/workflows/{id}/schedule"],
  },
  {
    name: "Runs",
    description: "Executions of workflows with the results of their steps.",
    paths: ["/runs", "/workflows/{id}/run", "/workflows/{id}/runs"],
  },
  {
    name: "Approvals",
    description: "Steps that wait until somebody decides.",
    paths: ["/approvals", "/runs/{id}/approvals"],
  },
  {
    name: "Secrets",
    description: "Encrypted values that the steps of one workflow use. No answer shows them.",
    paths: ["/workflows/{workflowId}/secrets"],
  },
  {
    name: "Connections",
    description: "Accounts at providers, connected by OAuth or by an API key.",
    paths: ["/connections"],
  },
  {
    name: "Agents",
    description:
      "Prompts with settings under which an AI model is asked, and what was asked of them.",
    paths: ["/agents"],
  },
  {
    name: "Tables",
    description: "Data tables, their columns, and imports and exports of whole tables.",
    paths: ["/tables", "/table-folders"],
  },
  {
    name: "Rows",
    description: "Rows of data tables: filters, order, distinct values and figures.",
    paths: ["/tables/{id}/rows", "/tables/{id}/columns", "/tables/{id}/aggregate"],
  },
  {
    name: "Webhook endpoints",
    description:
      "Addresses that hear of runs, and the deliveries to them. Their bodies are under Webhooks.",
    paths: ["/webhook-endpoints", "/webhook-event-types"],
  },
  {
    name: "Webhook events",
    description: "What came in by webhook, kept before workflows were matched.",
    paths: ["/webhook-events"],
  },
  {
    name: "Inbound webhooks",
    description:
      "Where providers send their events. These paths lie at the origin, take no API key, and refuse with `{error}`.",
    paths: ["/webhooks"],
  },
  {
    name: "Dashboards",
    description: "Charts and figures on a grid, made by people who are signed in.",
    paths: ["/dashboards"],
  },
  {
    name: "API keys",
    description: "Keys of programs. Each has scopes, and is shown once.",
    paths: ["/auth/api-keys"],
  },
  {
    name: "Sessions",
    description: "Signing in as a person, by a cookie.",
    paths: ["/auth/session", "/auth/password"],
  },
  {
    name: "Members",
    description: "The people of a company and their roles.",
    paths: ["/members"],
  },
  {
    name: "Audit log",
    description: "Who changed what, and when.",
    paths: ["/audit-logs"],
  },
  {
    name: "Health",
    description:
      "For load balancers and for those who run the service. At the origin, without a key.",
    paths: ["/livez", "/readyz"],
  },
];

/**
 * The group of an operation.
 *
 * @throws Error for a path without a group
 */
export function tagOf(path: Route["path"]): string {
  const beginnings = TAGS.flatMap(({ name, paths }) => paths.map((each) => ({ name, each })));
  const fitting = beginnings.filter(({ each }) => path === each || path.startsWith(`${each}/`));
  const longest = fitting.toSorted((one, other) => other.each.length - one.each.length)[0];
  if (longest === undefined) throw new Error(`${path} belongs to no tag of the description.`);
  return longest.name;
}
