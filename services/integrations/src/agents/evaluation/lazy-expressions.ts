import type { Scope } from "@workflow/async";
import { createExpressionPool } from "@workflow/expressions";
import type { ExpressionPool } from "@workflow/expressions";
import type { Logger } from "pino";
import type { Registry } from "prom-client";

/** Most installations never evaluate: processes that wait for it would cost them memory. */
const PROCESSES = 2;

/** What cases need of a pool. */
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
