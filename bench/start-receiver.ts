import { z } from "zod";
import type { Scope } from "@workflow/async";
import { startHelper } from "./child-process.ts";

const ready = z.object({ url: z.url() });

/**
 * Starts the host that steps call; returns its URL without a slash at the end.
 * @param port by default a free one
 * @param answer the JSON text that the host answers
 */
export async function startReceiver(
  scope: Scope,
  answerAfterMs: number,
  port = 0,
  answer = '{"ok":true}',
): Promise<string> {
  const { url } = await startHelper(scope, "receiver.ts").ask(
    { answerAfterMs, port, answer },
    ready,
  );
  return url;
}
