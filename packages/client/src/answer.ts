import { isObject } from "./described.ts";
import { ApiError, InvalidAnswerError } from "./errors.ts";
import { readRetryAfter } from "./retry.ts";

/** The two parts of a good answer's envelope. */
export interface Envelope {
  data: unknown;
  /** For lists: where the list continues. */
  meta: unknown;
}

/**
 * Accepts a successful answer whose body was not read yet.
 * @throws ApiError for a refusal of the service, or of something in front of it
 * @throws InvalidAnswerError for redirects
 */
export async function checkStatus(response: Response): Promise<void> {
  const { status } = response;
  if (response.type === "opaqueredirect" || (response.headers.has("location") && status < 400)) {
    await response.body?.cancel();
    throw new InvalidAnswerError("The server redirects; baseUrl must name the API itself.", status);
  }
  if (response.ok) return;
  throw toApiError(response, parse(await response.text()));
}

/**
 * Reads the body of a successful answer.
 * @throws InvalidAnswerError when it is not the envelope of this API
 */
export async function readEnvelope(response: Response): Promise<Envelope> {
  const body = parse(await response.text());
  if (!isObject(body) || body["success"] !== true || !("data" in body)) {
    const type = response.headers.get("content-type") ?? "no type";
    throw new InvalidAnswerError(
      `The answer (${type}) is not of this API; baseUrl may be wrong.`,
      response.status,
    );
  }
  return { data: body["data"], meta: body["meta"] };
}

function toApiError(response: Response, body: unknown): ApiError {
  const { status, headers } = response;
  const error = isObject(body) && isObject(body["error"]) ? body["error"] : {};
  const { code, message, details, requestId } = error;
  return new ApiError({
    code: typeof code === "string" ? code : `HTTP_${status}`,
    message:
      typeof message === "string"
        ? message
        : `The server answered ${status}, and not in the form of this API.`,
    status,
    requestId: typeof requestId === "string" ? requestId : headers.get("x-request-id"),
    details,
    retryAfterMs: readRetryAfter(headers, Date.now()),
  });
}

/** Undefined for text that is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
