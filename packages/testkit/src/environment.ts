import { join } from "node:path";

/** Variables by which Jest's global setup passes its server to the workers, which inherit them. */
export const TEST_ADMIN_URI = "WORKFLOW_TEST_ADMIN_URI";
export const TEST_TEMPLATE = "WORKFLOW_TEST_TEMPLATE";

/**
 * Variables for programs that a test starts. Their code is stripped of types and compiled once for all
 * programs, which saves half of a start. Only a program that ends by itself adds to the cache.
 */
export const COMPILE_CACHE = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, "../../../.cache/node"),
} as const;
