import type { AnswerChecker, ReceivedAnswer } from "./answer-checker.ts";

/** A header of every answer of the gateway (D8), and of no double. */
const OURS = 'rel="service-desc"';

/** The answers to the tests of a file, and their differences from the description. */
export const seenAnswers = new Set<string>();
let problems: string[] = [];
let checker: Promise<AnswerChecker> | undefined;

/** Whether an answer is one of the gateway. */
export function isOurs(headers: { get(name: string): string | null }): boolean {
  return headers.get("link")?.includes(OURS) === true;
}

/** Compares an answer with the description, and keeps the differences until `takeProblems`. */
export async function judgeAnswer(answer: ReceivedAnswer): Promise<void> {
  const { check } = await loadChecker();
  const verdict = check(answer);
  if (verdict === null) return;
  seenAnswers.add(verdict.seen);
  problems.push(...verdict.problems);
}

/** The differences since the last call, each once. */
export function takeProblems(): string[] {
  const found = [...new Set(problems)];
  problems = [];
  return found;
}

/** The checker is loaded with the first answer: most test files of packages get none. */
async function loadChecker(): Promise<Pick<AnswerChecker, "check">> {
  checker ??= createChecker();
  const loaded = await checker;
  return { check: (answer) => loaded.check(answer) };
}

async function createChecker(): Promise<AnswerChecker> {
  const { AnswerChecker } = await import("./answer-checker.ts");
  const { readDescription } = await import("./description.ts");
  return new AnswerChecker(await readDescription());
}
