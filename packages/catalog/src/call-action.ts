import { buildParts, finishRequest } from "./build-request.ts";
import type { ActionCall, ProviderRequest } from "./build-request.ts";
import {
  EMPTY_PAGES_MAX,
  itemsOf,
  LIST_LIMITS,
  mayTellMore,
  nextPage,
  pageRequest,
  pageSize,
  tellsMore,
} from "./pages.ts";
import type { PageState } from "./pages.ts";
import type { ActionManifest, ProviderAnswer, ProviderManifest } from "./provider-manifest.ts";
import { findFailure, readOutput } from "./read-answer.ts";
import type { ProviderFailure } from "./read-answer.ts";

/** The result of calling an action. */
export type ActionResult = { ok: true; output: unknown } | { ok: false; failure: ProviderFailure };

/**
 * Calls an action, page by page where it lists something. The inputs were checked with `checkInputs`.
 *
 * @param send makes one exchange; what it throws is passed on
 * @throws InvalidInputError, MissingFieldError
 */
export async function callAction(
  { provider, action }: { provider: ProviderManifest; action: ActionManifest },
  call: ActionCall,
  send: (request: ProviderRequest) => Promise<ProviderAnswer>,
  now: () => number = Date.now,
): Promise<ActionResult> {
  const first = await buildParts(action, call.inputs, call.access.fields, call.idempotencyKey);
  const exchange = async (parts: typeof first) => {
    const answer = await send(finishRequest(provider, action.request, parts, call));
    return { answer, failure: findFailure(provider, answer, now()) };
  };
  const { paging } = action;
  if (paging === undefined) {
    const { answer, failure } = await exchange(first);
    return failure === null
      ? { ok: true, output: readOutput(action, answer, call.inputs) }
      : { ok: false, failure };
  }
  const { limit: given } = call.inputs;
  const limit = typeof given === "number" ? given : LIST_LIMITS.default;
  // One further item is the only sign of another page where answers have none.
  let goal = mayTellMore(paging) ? limit : limit + 1;
  const state: PageState = { items: [], pages: 0 };
  let next: string | number | null = null;
  let emptyPages = 0;
  do {
    const wanted = goal - state.items.length;
    const { answer, failure } = await exchange(pageRequest(paging, first, state, { next, wanted }));
    if (failure !== null) return { ok: false, failure };
    const items = itemsOf(paging, answer);
    // No spread: a page of a hundred thousand items exceeds the arguments of a call.
    for (const item of items) state.items.push(item);
    state.pages += 1;
    const asked = pageSize(paging, wanted);
    next = nextPage(paging, answer, state, { count: items.length, asked });
    if (!tellsMore(paging, answer)) goal = limit + 1;
    // A provider that sends empty pages for ever would never end the list.
    emptyPages = items.length === 0 ? emptyPages + 1 : 0;
    if (emptyPages === EMPTY_PAGES_MAX) break;
  } while (next !== null && state.items.length < goal);
  const hasMore = next !== null || state.items.length > limit;
  return { ok: true, output: { [paging.member]: state.items.slice(0, limit), hasMore } };
}
