import { AppError } from "@workflow/errors";
import { isStorableText } from "@workflow/json";
import type { WriteOrigin } from "@workflow/proto/tables/v1/rows";
import type { RpcContext } from "@workflow/rpc";
import type { WriteCause } from "../writes/index.ts";

const KEY_CHARS_MAX = 500;

/**
 * What the events of a write tell of where it comes from, and the key under which it is made once.
 *
 * @throws AppError BAD_REQUEST for a key that cannot be kept
 */
export function writeCauseOf(
  { requestId, traceparent }: RpcContext,
  origin?: WriteOrigin,
): WriteCause {
  const caller = { requestId, traceparent };
  if (origin === undefined) return caller;
  const { runId, idempotencyKey: key } = origin;
  if (key.length > KEY_CHARS_MAX || !isStorableText(key)) throw badKey();
  return {
    ...caller,
    runId: runId === "" ? undefined : runId,
    key: key === "" ? undefined : key,
  };
}

function badKey(): AppError {
  const message = `must be at most ${KEY_CHARS_MAX} characters of well-formed text`;
  return new AppError("BAD_REQUEST", `origin.idempotencyKey ${message}.`, {
    violations: [{ path: ["origin", "idempotencyKey"], message }],
  });
}
