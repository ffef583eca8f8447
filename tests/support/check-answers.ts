import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { relative } from "node:path";
import { afterAll, afterEach, expect } from "@jest/globals";
import type { AnswerChecker } from "./description/answer-checker.ts";

/*
 * Jest's set-up of every test file: each answer of the API that a test gets by `fetch` is compared with the
 * description, and the test fails when they differ. A body is compared when the test reads it, so streams flow
 * as they would.
 */

/** `ANSWER_CHECK=list` fails no test: what is wrong is gathered in `.cache/answers/problems.txt`. */
const LISTS = process.env["ANSWER_CHECK"] === "list";
/** A service's own tests have doubles behind the gateway, which answer what no service would. */
const OF_WHOLE_SYSTEMS = !/\/services\/[\w-]+\/tests\//.test(expect.getState().testPath ?? "");
/** On every answer of the gateway (D8), and on none of those that stand in for the outside world. */
const OURS = 'rel="service-desc"';
const SEEN_DIRECTORY = new URL("../../.cache/answers/", import.meta.url);

const seen = new Set<string>();
let problems: string[] = [];
let checker: Promise<AnswerChecker> | undefined;

const send = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const response = await send(input, init);
  if (OF_WHOLE_SYSTEMS && response.headers.get("link")?.includes(OURS) && !response.redirected) {
    const method = init?.method ?? (input instanceof Request ? input.method : "GET");
    await watch(response, method, new URL(response.url).pathname);
  }
  return response;
};

afterEach(reportProblems);
afterAll(async () => {
  await reportProblems();
  if (seen.size > 0) await keepSeen();
});

async function watch(response: Response, method: string, pathname: string): Promise<void> {
  const { status } = response;
  const contentType = response.headers.get("content-type");
  const { check } = await loadChecker();
  const judge = (body: string | null): void => {
    const verdict = check({ method, pathname, status, contentType, body });
    if (verdict === null) return;
    seen.add(verdict.seen);
    problems.push(...verdict.problems);
  };
  if (response.body === null) return judge("");
  judge(null);
  const read = response.text.bind(response);
  const readAndJudge = async (): Promise<string> => {
    const body = await read();
    judge(body);
    return body;
  };
  Object.defineProperty(response, "text", { value: readAndJudge });
  Object.defineProperty(response, "json", {
    value: async (): Promise<unknown> => JSON.parse(await readAndJudge()),
  });
}

/** Loaded with the first answer: most test files of packages get none. */
async function loadChecker(): Promise<Pick<AnswerChecker, "check">> {
  checker ??= createChecker();
  const loaded = await checker;
  return { check: (answer) => loaded.check(answer) };
}

async function createChecker(): Promise<AnswerChecker> {
  const { AnswerChecker } = await import("./description/answer-checker.ts");
  const { readDescription } = await import("./description/description.ts");
  return new AnswerChecker(await readDescription());
}

async function reportProblems(): Promise<void> {
  const found = [...new Set(problems)].join("\n");
  problems = [];
  if (found === "") return;
  if (!LISTS) throw new Error(`services/gateway/openapi.json describes other answers:\n${found}`);
  await mkdir(SEEN_DIRECTORY, { recursive: true });
  await appendFile(new URL("problems.txt", SEEN_DIRECTORY), `${found}\n`);
}

/** For `npm run answers`, which tells what is described and never seen. */
async function keepSeen(): Promise<void> {
  await mkdir(SEEN_DIRECTORY, { recursive: true });
  const name = relative(process.cwd(), expect.getState().testPath ?? "").replaceAll("/", "+");
  const file = new URL(`${name}.json`, SEEN_DIRECTORY);
  await writeFile(file, JSON.stringify([...seen].toSorted()));
}
