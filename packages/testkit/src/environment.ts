import { join } from "node:path";

/**
 * Variables with which Jest's global setup tells the workers about its server. Workers inherit them.
 */
export const TEST_ADMIN_URI = "WORKFLOW_TEST_ADMIN_URI";
export const TEST_TEMPLATE = "WORKFLOW_TEST_TEMPLATE";

/**
 * For the environment of programs that a test starts: their code is stripped of its types and compiled once
 * for all of them, which is half of a start. Only a program that ends by itself adds to it.
 */
export const COMPILE_CACHE = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, "../../../.cache/node"),
} as const;
