import { readdir, readFile } from "node:fs/promises";
import { OPERATIONS } from "@workflow/service-gateway/routes";
import type { Route } from "@workflow/service-gateway/routes";
import { z } from "zod";
import { readDescription } from "./description.ts";
import { UNSEEN_ANSWERS } from "./unseen-answers.ts";

/*
 * `npm run answers`, after a run of all tests that began with none kept: tells which answers operations declare
 * that no test has got. A refusal that cannot happen, or that nobody has tried, does not belong into the description.
 */

const SEEN_DIRECTORY = new URL("../../../.cache/answers/", import.meta.url);

const seen = await readSeen();
const declared = await listDeclared();
const unseen = declared.filter((each) => !seen.has(each));
const missing = unseen.filter((each) => UNSEEN_ANSWERS[each] === undefined);
const outdated = Object.keys(UNSEEN_ANSWERS).filter((each) => !declared.includes(each));
tell("Declared, but no test has got it", missing);
tell("Excused in unseen-answers.ts, but not declared", outdated);
process.stdout.write(
  `Answers: ${declared.length} declared, ${declared.length - unseen.length} seen, ${unseen.length - missing.length} excused\n`,
);
process.exitCode = missing.length + outdated.length > 0 ? 1 : 0;

async function readSeen(): Promise<ReadonlySet<string>> {
  const files = (await readdir(SEEN_DIRECTORY)).filter((name) => name.endsWith(".json"));
  const lists = await Promise.all(
    files.map(async (name) => {
      const text = await readFile(new URL(name, SEEN_DIRECTORY), "utf8");
      return z.array(z.string()).parse(JSON.parse(text));
    }),
  );
  return new Set(lists.flat());
}

/** Every success, and the refusals that a route declares beside those of its kind. */
async function listDeclared(): Promise<string[]> {
  const { operations } = await readDescription();
  return operations.flatMap(({ name, operationId, responses, codes }) => {
    const statuses = [...responses.keys()].filter((status) => /^[23]/.test(status));
    const own = OPERATIONS[operationId]?.errors ?? [];
    const refusals = [...codes].flatMap(([status, ofStatus]) =>
      ofStatus.filter((code) => isOwn(own, code)).map((code) => `${name} ${status} ${code}`),
    );
    return [...statuses.map((status) => `${name} ${status}`), ...refusals];
  });
}

function isOwn(own: Route["errors"], code: string): boolean {
  return own.some((reason) => reason === code);
}

function tell(what: string, answers: readonly string[]): void {
  if (answers.length > 0)
    process.stdout.write(`${what}:\n${answers.map((each) => `  ${each}\n`).join("")}`);
}
