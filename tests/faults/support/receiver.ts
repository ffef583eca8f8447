import { startHttpDouble } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";
import { z } from "zod";

const body = z.object({ n: z.number() });

/** How long a call takes, so that faults find calls under way. */
const ANSWER_MS = 20;

/**
 * The outside world of the mixed load. `/echo` answers with the number that it was sent; `/flaky`
 * does so from the third request of a step on, and asks to try again before.
 */
export function startReceiver(): Promise<HttpDouble> {
  const tries = new Map<string, number>();
  return startHttpDouble(async (request) => {
    await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
    const step = request.idempotencyKey?.replace(/:\d+$/, "") ?? "";
    const tried = (tries.get(step) ?? 0) + 1;
    tries.set(step, tried);
    if (request.path === "/flaky" && tried < 3) return { status: 503 };
    return { status: 200, body: body.parse(JSON.parse(request.body)) };
  });
}
