import { inputsOf, PROVIDERS } from "@workflow/catalog";
import type {
  ActionInput,
  ActionManifest,
  ProviderAuth,
  ProviderManifest,
} from "@workflow/catalog";
import { format } from "prettier";

const INTRODUCTION = `
# Providers

The applications that workflows can work with, and what they can do there. The page is made from the manifests in
\`packages/catalog\`; a test keeps it up to date. How blocks, actions and connections belong together is in
[blocks.md](blocks.md).

A step calls an action by its id, with the inputs in its config; every input may be a template:

\`\`\`json
{
  "id": "refund",
  "type": "action",
  "name": "Refund the order",
  "action": "stripe.createRefund",
  "config": { "payment_intent": "{{input.paymentIntent}}", "amount": 500 }
}
\`\`\`

Inputs are named in the provider's own terms. What an action _needs_ has to be given; what it _may need_ only when
other inputs have certain values, which \`GET /api/v1/blocks/{type}\` tells together with types and choices.
`;

/** The text of docs/providers.md. */
export async function renderProvidersPage(): Promise<string> {
  const rows = PROVIDERS.map(
    ({ id, name, category, auth, actions }) =>
      `| [${name}](#${id}) | \`${id}\` | ${category} | ${connectedBy(auth)} | ${actions.length} |`,
  );
  const overview = [
    "| Provider | Id | For | Connected by | Actions |",
    "|---|---|---|---|---|",
    ...rows,
  ];
  const page = [INTRODUCTION, overview.join("\n"), ...PROVIDERS.map(section)].join("\n\n");
  return format(page, { parser: "markdown", printWidth: 100 });
}

function section(provider: ProviderManifest): string {
  const { id, description, docs, auth, actions } = provider;
  return [
    `## ${id}`,
    `${description} ${connection(auth)} [Reference](${docs}).`,
    actions.map((action) => entry(id, action)).join("\n"),
  ].join("\n\n");
}

function connectedBy({ kind }: ProviderAuth): string {
  return { oauth: "OAuth", apiKey: "API key", bank: "bank link", own: "account id" }[kind];
}

function connection(auth: ProviderAuth): string {
  if (auth.kind === "oauth") return "Connected by OAuth.";
  if (auth.kind === "bank") return "Connected by linking a bank.";
  if (auth.kind === "own") return "Named by an account id.";
  const fields = auth.fields.map(
    ({ key, required }) => `\`${key}\`${required ? "" : " (optional)"}`,
  );
  return `Connected by \`apiKey\`${fields.length === 0 ? "" : `, with ${fields.join(", ")}`}.`;
}

function entry(provider: string, action: ActionManifest): string {
  const inputs = inputsOf(action);
  const needs = inputs.filter((input) => input.required === true && isAlwaysThere(input));
  const mayNeed = inputs.filter(
    (input) =>
      input.requiredWhen !== undefined ||
      input.requiredWithout !== undefined ||
      (input.required === true && !isAlwaysThere(input)),
  );
  const takes = inputs.filter((input) => !needs.includes(input) && !mayNeed.includes(input));
  const parts = [
    [`- [\`${provider}.${action.name}\`](${action.docs}): ${action.description}`],
    ...[
      { words: "Needs", names: keysOf(needs) },
      { words: "May need", names: keysOf(mayNeed) },
      { words: "Takes", names: keysOf(takes) },
      { words: "Output:", names: action.outputs },
    ].map(({ words, names }) => (names.length === 0 ? [] : [`${words} ${codes(names)}.`])),
  ];
  return parts.flat().join(" ");
}

function keysOf(inputs: readonly ActionInput[]): string[] {
  return inputs.map(({ key }) => key);
}

function isAlwaysThere({ visibleWhen }: ActionInput): boolean {
  return visibleWhen === undefined;
}

function codes(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}
