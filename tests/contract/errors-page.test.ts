import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { FAILURE_CODES, GRPC_CODE_BY_REASON } from "@workflow/errors";
import type { Reason } from "@workflow/errors";
import { readDescription } from "../support/description/description.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = join(ROOT, "docs/errors.md");
const OPERATIONS_BEGIN =
  "<!-- operations by code: UPDATE_ERRORS_DOC=1 npm test -- tests/contract/errors-page -->";
const OPERATIONS_END = "<!-- end of operations by code -->";

/** The statuses of the contract, D2, D4, D25, RFC 9110 and RFC 6585. */
const HTTP_STATUS: Readonly<Record<Reason, number>> = {
  BAD_REQUEST: 400,
  VALIDATION_ERROR: 400,
  WORKFLOW_NOT_ACTIVE: 400,
  INVALID_STATE: 400,
  INVALID_STEP: 400,
  NOT_CONFIGURED: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  EXECUTION_TIMEOUT: 408,
  CONFLICT: 409,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL_ERROR: 500,
  TRIGGER_ERROR: 500,
  UPSTREAM_ERROR: 502,
  UNAVAILABLE: 503,
};

/** Where errors of runs, steps and agents come from. */
const FAILURE_SOURCES = [
  "services/integrations/src",
  "services/runs/src",
  "packages/expressions/src",
  "packages/http-client/src",
  "packages/definition/src",
];

/** A step names a missing part of the installation, and a limit between companies, as the API does. */
const OF_BOTH = ["NOT_CONFIGURED", "RATE_LIMITED"];

describe("docs/errors.md", () => {
  it("lists every code of the API with its status, and no other", async () => {
    const { api } = await readPage();
    expect(Object.fromEntries(api)).toEqual(HTTP_STATUS);
    expect([...api.keys()].toSorted()).toEqual(Object.keys(GRPC_CODE_BY_REASON).toSorted());
  });

  it("lists the operations of each code as the description has them", async () => {
    const page = await readFile(PAGE, "utf8");
    const [before = "", rest = ""] = page.split(OPERATIONS_BEGIN);
    const [, after = ""] = rest.split(OPERATIONS_END);
    const made = `${before}${OPERATIONS_BEGIN}\n\n${await listOperations()}\n${OPERATIONS_END}${after}`;
    if (process.env["UPDATE_ERRORS_DOC"] === "1") await writeFile(PAGE, made);
    expect(await readFile(PAGE, "utf8")).toBe(made);
  });

  it("lists every code with which runs and steps fail, and no other", async () => {
    const { steps } = await readPage();
    expect([...steps].toSorted()).toEqual(FAILURE_CODES.toSorted());
  });

  it("lists no code that nothing fails with", async () => {
    const sources = await readFailureSources();
    // Nothing can fail with another code: that does not compile.
    expect(FAILURE_CODES.filter((code) => !sources.includes(`"${code}"`))).toEqual([]);
  });
});

/** A line for each code; one that nearly all operations have is not worth their names. */
async function listOperations(): Promise<string> {
  const { operations } = await readDescription();
  const ofApi = operations.filter(({ codes }) => codes.get("500")?.includes("INTERNAL_ERROR"));
  const namesByCode = new Map<string, string[]>();
  for (const { name, codes } of ofApi) {
    for (const code of [...codes.values()].flat()) {
      namesByCode.set(code, [...(namesByCode.get(code) ?? []), name]);
    }
  }
  return [...namesByCode]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(
      ([code, names]) =>
        `- \`${code}\`: ${operationsText(
          names,
          ofApi.map(({ name }) => name),
        )}\n`,
    )
    .join("");
}

function operationsText(names: readonly string[], all: readonly string[]): string {
  const others = all.filter((name) => !names.includes(name));
  const inCode = (list: readonly string[]): string => list.map((name) => `\`${name}\``).join(", ");
  if (others.length === 0) return "every operation";
  return others.length < all.length / 8 ? `every operation but ${inCode(others)}` : inCode(names);
}

/** Codes of the API are those in rows whose second column is an HTTP status. */
async function readPage(): Promise<{ api: Map<string, number>; steps: Set<string> }> {
  const text = await readFile(PAGE, "utf8");
  const api = new Map<string, number>();
  const steps = new Set<string>();
  for (const line of text.split("\n")) {
    const [, first = "", second = ""] = line.split("|").map((cell) => cell.trim());
    if (!line.startsWith("|")) continue;
    for (const [, code = ""] of first.matchAll(/`([A-Z_]+)`/g)) {
      if (!OF_BOTH.includes(code)) expect([...api.keys(), ...steps]).not.toContain(code);
      if (/^\d{3}$/.test(second)) api.set(code, Number(second));
      else steps.add(code);
    }
  }
  return { api, steps };
}

async function readFailureSources(): Promise<string> {
  const texts: string[] = [];
  for (const folder of FAILURE_SOURCES) {
    const files = await readdir(join(ROOT, folder), { recursive: true });
    for (const file of files.filter((name) => name.endsWith(".ts"))) {
      texts.push(await readFile(join(ROOT, folder, file), "utf8"));
    }
  }
  return texts.join("\n");
}
