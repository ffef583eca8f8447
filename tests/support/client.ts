import { createClient } from "@workflow/client";
import type { WorkflowClient } from "@workflow/client";
import type { WholeSystem } from "./whole-system.ts";

/**
 * The client library with a company's key, by default acme's. Each request goes out once, so that a test sees every
 * failure.
 */
export function clientOf(
  { origin, acme }: Pick<WholeSystem, "origin" | "acme">,
  apiKey: string = acme.key,
): WorkflowClient {
  return createClient({ baseUrl: `${origin}/api/v1`, apiKey, maxRetries: 0 });
}
