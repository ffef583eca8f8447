import type { Exchange } from "./action-case.ts";

/** Stands in answers for the provider's base URL, where a provider names whole addresses. */
export const BASE_URL = "{baseUrl}";

/** The body of an answer, with the base URL that the requests went to. */
export function answerBody({ body = null }: Exchange["answer"], baseUrl: string): unknown {
  return JSON.parse(JSON.stringify(body).replaceAll(BASE_URL, baseUrl));
}
