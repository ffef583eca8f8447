import type { AnswerChecker, ReceivedAnswer } from "./answer-checker.ts";

/** On every answer of the gateway (D8), and on none of those that stand in for the outside world. */
const OURS = 'rel="service-desc"';

/** What the answers to the tests of a file were, and what the description does not say of them. */
export const seenAnswers = new Set<string>();
let problems: string[] = [];
let checker: Promise<AnswerChecker> | undefined;

/** Whether an answer is one of the gateway. */
export function isOurs(headers: { get(name: string): string | null }): boolean {
  return headers.get("link")?.includes(OURS) === true;
}

/** Compares an answer with the description, and keeps what is wrong until somebody takes it. */
export async function judgeAnswer(answer: ReceivedAnswer): Promise<void> {
  const { check } = await loadChecker();
  const verdict = check(answer);
  if (verdict === null) return;
  seenAnswers.add(verdict.seen);
  problems.push(...verdict.problems);
}

/** What was wrong since it was asked for last, each problem once. */
export function takeProblems(): string[] {
  const found = [...new Set(problems)];
  problems = [];
  return found;
}

/** Loaded with the first answer: most test files of packages get none. */
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
