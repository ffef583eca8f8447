import type { TestTokens } from "@workflow/testkit";
import { z } from "zod";

/** The variable in which the run's set-up describes the shared system. */
export const SHARED_SYSTEM = "WORKFLOW_TEST_SHARED_SYSTEM";

const pair = z.object({
  privateKeyPem: z.string(),
  publicKeyPem: z.string(),
  keyId: z.string(),
});

const sharedSystem = z.object({
  origin: z.string(),
  databaseUrl: z.string(),
  keys: z.object({
    gateway: pair,
    workflows: pair,
    runs: pair,
    webhooks: pair,
    admin: pair,
  }),
  grpcAddresses: z.object({
    workflows: z.string(),
    runs: z.string(),
    tables: z.string(),
    integrations: z.string(),
    webhooks: z.string(),
  }),
  /** The settings with which one more gateway can start. */
  gatewayEnvironment: z.record(z.string(), z.string()),
});

/** A system of separate processes that several test files use. */
export type SharedSystem = z.output<typeof sharedSystem> & { keys: TestTokens["keys"] };

/** The system that the run's set-up has started; null when there is none. */
export function findSharedSystem(): SharedSystem | null {
  const text = process.env[SHARED_SYSTEM];
  return text === undefined ? null : sharedSystem.parse(JSON.parse(text));
}
