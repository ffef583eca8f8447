import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { relative } from "node:path";
import { afterAll, afterEach, expect } from "@jest/globals";
import { isOurs, judgeAnswer, seenAnswers, takeProblems } from "./description/watch-answers.ts";

/*
 * Jest's set-up of every test file compares each answer of the API by `fetch` with the description, and fails the
 * test when they differ. A body is compared when the test reads it, so that streams are no different.
 */

/**
 * `ANSWER_CHECK=list` fails no test, and gathers the differences in `.cache/answers/problems.txt`.
 */
const LISTS = process.env["ANSWER_CHECK"] === "list";
/** A service's own tests have doubles behind the gateway, whose answers no service would give. */
const OF_WHOLE_SYSTEMS = !/\/services\/[\w-]+\/tests\//.test(expect.getState().testPath ?? "");
const SEEN_DIRECTORY = new URL("../../.cache/answers/", import.meta.url);

const send = globalThis.fetch;
globalThis.fetch = async (input, init) => {
  const response = await send(input, init);
  if (OF_WHOLE_SYSTEMS && isOurs(response.headers) && !response.redirected) {
    const method = init?.method ?? (input instanceof Request ? input.method : "GET");
    await watch(response, method, new URL(response.url).pathname);
  }
  return response;
};

afterEach(reportProblems);
afterAll(async () => {
  await reportProblems();
  if (seenAnswers.size > 0 && !meetsByChance()) await keepSeen();
});

async function watch(response: Response, method: string, pathname: string): Promise<void> {
  const { status, headers } = response;
  const judge = (body: string | null): Promise<void> =>
    judgeAnswer({ method, pathname, status, headers, body });
  if (response.body === null) return judge("");
  await judge(null);
  const read = response.text.bind(response);
  const readAndJudge = async (): Promise<string> => {
    const body = await read();
    await judge(body);
    return body;
  };
  Object.defineProperty(response, "text", { value: readAndJudge });
  Object.defineProperty(response, "json", {
    value: async (): Promise<unknown> => JSON.parse(await readAndJudge()),
  });
}

async function reportProblems(): Promise<void> {
  const found = takeProblems().join("\n");
  if (found === "") return;
  if (!LISTS) throw new Error(`services/gateway/openapi.json describes other answers:\n${found}`);
  await mkdir(SEEN_DIRECTORY, { recursive: true });
  await appendFile(new URL("problems.txt", SEEN_DIRECTORY), `${found}\n`);
}

/** Whether the answers of this file depend on chance, so that another run meets others. */
function meetsByChance(): boolean {
  return /fuzz|hostile/.test(expect.getState().testPath ?? "");
}

/** `npm run answers` reads this to find what is described and never seen. */
async function keepSeen(): Promise<void> {
  await mkdir(SEEN_DIRECTORY, { recursive: true });
  const name = relative(process.cwd(), expect.getState().testPath ?? "").replaceAll("/", "+");
  const file = new URL(`${name}.json`, SEEN_DIRECTORY);
  await writeFile(file, JSON.stringify([...seenAnswers].toSorted()));
}
