import { SHARED_SETTINGS } from "@workflow/service";
import type { FirstCompany } from "@workflow/service-gateway/admin";

/** Only transforms and a condition, so the workflow runs without any outside service. */
const FIRST_WORKFLOW = {
  name: "Greeting",
  trigger: { type: "api" },
  steps: [
    {
      id: "size",
      type: "condition",
      name: "Is it a big order?",
      config: {
        if: { left: "{{input.amount}}", operator: "greater_than", right: 1000 },
        // oxlint-disable-next-line unicorn/no-thenable -- the key is part of the contract
        then: [
          { id: "thanks", type: "transform", name: "Thank", config: { mapping: "Thank you!" } },
        ],
      },
    },
    {
      id: "answer",
      type: "transform",
      name: "Answer",
      config: {
        mapping: { greeting: "Hello {{input.name}}!", thanks: "{{steps.thanks.output}}" },
      },
    },
  ],
};

/** The place of a system, for commands to paste into another terminal. */
export interface SystemPlace {
  DATA_DIR: string;
  DATABASE_URL?: string | undefined;
}

/** The text about the first company. Its password and key are stored nowhere in this form. */
export function firstCompanyText(company: FirstCompany, place: SystemPlace): string {
  return `
This database was empty, so a first company was made. Note it down, it is shown only now:

  Company   ${company.name} (${company.companyId})
  Owner     ${company.email}
  Password  ${company.password}
  API key   ${company.apiKey}

Another API key:
  ${settingsFor(place)}npm run admin -- create-api-key --company ${company.companyId} --name mine --scopes workflows:read,workflows:write,workflows:execute,runs:read
`;
}

export interface ReadyOptions {
  port: number;
  /** The first company's key; known only at the first start. */
  apiKey: string | null;
  logFile: string;
}

/** The text when everything runs: the address, and calls to paste into a shell. */
export function readyText({ port, apiKey, logFile }: ReadyOptions): string {
  const base = `http://localhost:${port}/api/v1`;
  const key = apiKey ?? "wfk_your_key";
  const hint = apiKey === null ? "  # one that you have, or see: npm run admin" : "";
  return `
Ready ${base}

A first workflow, in another terminal:

  export API_KEY=${key}${hint}
  export WORKFLOW_ID=$(${curl(base, "/workflows", FIRST_WORKFLOW)} | grep -o '"id":"[0-9a-f-]\\{36\\}"' | head -n 1 | cut -d '"' -f 4)
  ${curl(base, "/workflows/$WORKFLOW_ID/activate")}
  ${curl(base, "/workflows/$WORKFLOW_ID/run", { mode: "sync", input: { name: "Ada", amount: 1200 } })}

Logs: ${logFile} (errors are shown here too). Ctrl-C stops everything.
`;
}

/**
 * The settings that a pasted admin command needs; without them it would mean the system in `.data`. The URL holds a
 * password.
 */
function settingsFor({ DATA_DIR, DATABASE_URL }: SystemPlace): string {
  if (DATABASE_URL !== undefined) return "DATABASE_URL=… ";
  return DATA_DIR === SHARED_SETTINGS.DATA_DIR.parse(undefined)
    ? ""
    : `DATA_DIR=${quote(DATA_DIR)} `;
}

/** Quotes a text as one word for a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A POST for bash. The body must not hold single quotes. */
function curl(base: string, path: string, body?: object): string {
  const call = `curl -sS -w '\\n' -X POST "${base}${path}" -H "x-api-key: $API_KEY"`;
  if (body === undefined) return call;
  return `${call} -H 'content-type: application/json' -d '${JSON.stringify(body)}'`;
}
