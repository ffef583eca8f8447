import { setImmediate as nextTurn } from "node:timers/promises";
import type {
  AwaitedStart,
  StartRunsAndWaitRequest,
  StartRunsAndWaitResponse,
} from "@workflow/proto/runs/v1/starts";
import { rpcServerStream } from "@workflow/rpc";
import type { RpcContext, ServerStreamMethod } from "@workflow/rpc";
import type { ServiceContext } from "../context.ts";
import { startSafely } from "./start-safely.ts";
import { badRequests, REQUESTS_MAX } from "./start-runs.ts";

/** Characters of inputs and outputs in one message. A single result may have more. */
const MESSAGE_CHARS_MAX = 4 * 1024 * 1024;

/**
 * Starts several runs in one call and reports each when it ends. Runs whose ends share a commit end in
 * one turn of the event loop, so their results share a message.
 */
export function startRunsAndWait(
  context: ServiceContext,
): ServerStreamMethod<StartRunsAndWaitRequest, StartRunsAndWaitResponse> {
  return rpcServerStream({
    scopes: "workflows:execute",
    endsByItself: true,
    async *handler({ requests }, rpcContext) {
      if (requests.length < 1 || requests.length > REQUESTS_MAX) {
        throw badRequests(`must have 1 to ${REQUESTS_MAX} entries`);
      }
      if (requests.some(({ waitMs }) => waitMs <= 0)) {
        throw badRequests("must all wait; use StartRuns to start runs without waiting");
      }
      yield* tellOfEnds(context, requests, rpcContext);
    },
  });
}

async function* tellOfEnds(
  context: ServiceContext,
  requests: StartRunsAndWaitRequest["requests"],
  rpcContext: RpcContext,
): AsyncGenerator<StartRunsAndWaitResponse> {
  let known: AwaitedStart[] = [];
  let onKnown = (): void => {};
  const tell = (start: AwaitedStart): void => {
    known.push(start);
    onKnown();
  };
  for (const [index, request] of requests.entries()) {
    void startSafely(context, request, rpcContext, (waiting) =>
      tell({ index, waiting, result: undefined }),
    ).then((result) => tell({ index, result, waiting: undefined }));
  }
  let left = requests.length;
  while (left > 0) {
    if (known.length === 0) await new Promise<void>((resolve) => (onKnown = resolve));
    await nextTurn();
    const results = known;
    known = [];
    left -= results.filter(({ waiting }) => waiting === undefined).length;
    for (const message of inMessages(results)) yield { results: message };
  }
}

function* inMessages(results: readonly AwaitedStart[]): Generator<AwaitedStart[]> {
  let message: AwaitedStart[] = [];
  let chars = 0;
  for (const result of results) {
    const run = result.result?.started?.run;
    const more = (run?.inputJson?.length ?? 0) + (run?.outputJson?.length ?? 0);
    if (message.length > 0 && chars + more > MESSAGE_CHARS_MAX) {
      yield message;
      message = [];
      chars = 0;
    }
    message.push(result);
    chars += more;
  }
  if (message.length > 0) yield message;
}
