import { AppError } from "@workflow/errors";
import { isStorableText } from "@workflow/json";
import type { WriteOrigin } from "@workflow/proto/tables/v1/rows";
import type { RpcContext } from "@workflow/rpc";
import type { WriteCause } from "../writes/index.ts";

const KEY_CHARS_MAX = 500;

/**
 * The origin of a write for its events, and the key under which the write is made once.
 * @throws AppError BAD_REQUEST for a key that cannot be stored
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
