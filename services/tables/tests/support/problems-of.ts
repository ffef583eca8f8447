import { isAppError } from "@workflow/errors";

/** What a call refuses, each problem as `path: message`; fails the test when it refuses nothing. */
export function problemsOf(call: () => unknown): string[] {
  let answer: unknown;
  try {
    answer = call();
  } catch (error) {
    if (!isAppError(error) || error.reason !== "BAD_REQUEST") throw error;
    return error.violations.map(({ path, message }) => `${path.join(".")}: ${message}`);
  }
  throw new Error(`Expected a refusal, got ${JSON.stringify(answer)}`);
}
