import type { SafeHttpClient } from "@workflow/http-client";
import type { ExpressionPool } from "../expressions/expression-pool.ts";

/** Everything through which a step reaches beyond the run. */
export interface StepEffects {
  readonly http: SafeHttpClient;
  readonly expressions: ExpressionPool;
}
