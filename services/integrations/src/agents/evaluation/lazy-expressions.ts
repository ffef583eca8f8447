import type { Scope } from "@workflow/async";
import { createExpressionPool } from "@workflow/expressions";
import type { ExpressionPool } from "@workflow/expressions";
import type { Logger } from "pino";
import type { Registry } from "prom-client";

/** The pool is lazy because most installations never evaluate, and idle processes take memory. */
const PROCESSES = 2;

/** The part of an expression pool that cases use. */
export type CaseExpressions = Pick<ExpressionPool, "parse" | "evaluate">;

/** A pool of expressions that is opened when it is first used, and closed with the scope. */
export function openLazyExpressions(
  logger: Logger,
  metricsRegistry: Registry | undefined,
  scope: Scope,
): CaseExpressions {
  let opened: ExpressionPool | undefined;
  const open = (): ExpressionPool =>
    (opened ??= createExpressionPool({
      logger,
      metricsRegistry,
      name: "integrations",
      processes: PROCESSES,
    }));
  scope.defer(() => opened?.close());
  return {
    parse: (...question) => open().parse(...question),
    evaluate: (...question) => open().evaluate(...question),
  };
}
