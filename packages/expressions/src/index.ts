export { ExpressionError } from "./expression-error.ts";
export type { ExpressionErrorCode } from "./expression-error.ts";
export { createExpressionPool } from "./expression-pool.ts";
export type { ExpressionPool, ExpressionPoolOptions } from "./expression-pool.ts";
