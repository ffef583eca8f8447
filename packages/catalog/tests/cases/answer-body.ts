import type { Exchange } from "./action-case.ts";

/** The placeholder of the base URL in answers that contain whole addresses. */
export const BASE_URL = "{baseUrl}";

/** The body of an answer, with the base URL of the requests. */
export function answerBody({ body = null }: Exchange["answer"], baseUrl: string): unknown {
  return JSON.parse(JSON.stringify(body).replaceAll(BASE_URL, baseUrl));
}
