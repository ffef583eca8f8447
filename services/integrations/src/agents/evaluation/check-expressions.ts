import { ExpressionError } from "@workflow/expressions";
import type { ExpressionPool } from "@workflow/expressions";
import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import type { EvaluationCase } from "./evaluation-case.ts";
import { invalidCases } from "./parse-cases.ts";

/**
 * Checks the syntax of all expressions before any question is asked and paid.
 *
 * @throws AppError BAD_REQUEST naming each wrong one, RATE_LIMITED when too many of the company wait
 */
export async function checkExpressions(
  pool: Pick<ExpressionPool, "parse">,
  companyId: string,
  cases: readonly EvaluationCase[],
): Promise<void> {
  const places = placesOf(cases);
  const problems = await Promise.all(
    [...places].map(async ([expression, indexes]): Promise<Violation[]> => {
      const message = await findProblem(pool, companyId, expression);
      if (message === null) return [];
      return indexes.map((index) => ({ path: ["cases", index, "expect", "expression"], message }));
    }),
  );
  const violations = problems.flat();
  if (violations.length > 0) throw invalidCases(violations);
}

/** The cases of each expression: all cases often have the same one. */
function placesOf(cases: readonly EvaluationCase[]): Map<string, string[]> {
  const places = new Map<string, string[]>();
  for (const [index, { expectation }] of cases.entries()) {
    if (expectation.kind !== "expression") continue;
    const known = places.get(expectation.expression) ?? [];
    places.set(expectation.expression, [...known, String(index)]);
  }
  return places;
}

/** An expression that a process can't parse within its limits is unusable. */
async function findProblem(
  pool: Pick<ExpressionPool, "parse">,
  companyId: string,
  expression: string,
): Promise<string | null> {
  try {
    const parsed = await pool.parse(companyId, expression);
    return parsed.ok ? null : parsed.message;
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    switch (error.code) {
      case "EXPRESSION_TIMEOUT":
        return "takes too long to be parsed";
      case "EXPRESSION_MEMORY":
        return "needs too much memory to be parsed";
      case "EXPRESSION_QUEUE_FULL":
        throw new AppError("RATE_LIMITED", "Too many expressions are being checked. Try again.", {
          details: { limit: "expressions" },
          cause: error,
        });
      case "ABORTED":
        throw new AppError("UNAVAILABLE", "The service is stopping.", { cause: error });
      case "EXPRESSION_FAILED":
      case "OUTPUT_TOO_LARGE":
        throw error;
      default:
        return error.code satisfies never;
    }
  }
}
