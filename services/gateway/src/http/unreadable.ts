import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { AppError } from "@workflow/errors";
import { toErrorBody } from "../errors/error-body.ts";
import { HTTP_STATUS_BY_REASON } from "../errors/http-status.ts";
import { INBOUND_BASE } from "./inbound-base.ts";
import type { AnswerHeaders } from "./answer-headers.ts";
import { headTooLarge } from "./head-size.ts";
import { newRequestId } from "./request-info.ts";

/** The error that Node reports for a request that its parser gave up. */
export interface ParserError extends NodeJS.ErrnoException {
  /** The last bytes received, where the parser had taken any. */
  readonly rawPacket?: Buffer;
}

/** The error code that Node gives a request that did not arrive in time. */
export const LATE = "ERR_HTTP_REQUEST_TIMEOUT";

/**
 * Answers a request that is no readable HTTP, in the envelope of all other errors.
 *
 * @param url the target, where that much is known; inbound webhooks have an envelope of their own
 */
export function answerUnreadable(
  { code = "", rawPacket }: ParserError,
  socket: Socket,
  headers: AnswerHeaders,
  url?: string,
): void {
  const origin = /^origin:[ \t]*(\S+)[ \t]*$/im.exec(rawPacket?.toString("latin1") ?? "")?.[1];
  const error = EXPLANATIONS[code]?.() ?? badRequest("The request is not valid HTTP.");
  const status = STATUS_BY_CODE[code];
  writeAnswer(socket, error, { entries: headers.of(origin, false), status, url });
}

/**
 * Answers a connection whose request is not read any further.
 *
 * @param url as for `answerUnreadable`
 */
export function answerUnread(
  error: AppError,
  socket: Socket,
  headers: AnswerHeaders,
  url?: string,
): void {
  writeAnswer(socket, error, { entries: headers.of(undefined, false), url });
}

function writeAnswer(
  socket: Socket,
  error: AppError,
  {
    entries,
    status = HTTP_STATUS_BY_REASON[error.reason],
    url = "",
  }: {
    entries: ReturnType<AnswerHeaders["of"]>;
    status?: number | undefined;
    url?: string | undefined;
  },
): void {
  const requestId = newRequestId();
  const body = JSON.stringify(
    url.startsWith(`${INBOUND_BASE}/`)
      ? { error: error.message }
      : { success: false, error: toErrorBody(error, requestId) },
  );
  const { retryAfterMs } = error;
  socket.write(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
      "Connection: close",
      "Content-Type: application/json; charset=utf-8",
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      ...(retryAfterMs === undefined ? [] : [`Retry-After: ${Math.ceil(retryAfterMs / 1000)}`]),
      ...entries.map(([name, value]) => `${name}: ${value}`),
      "",
      body,
    ].join("\r\n"),
  );
}

const EXPLANATIONS: Readonly<Record<string, () => AppError>> = {
  HPE_HEADER_OVERFLOW: headTooLarge,
  [LATE]: () => badRequest("The request did not arrive in time."),
};

/** Where the reason's own status is less precise. */
const STATUS_BY_CODE: Readonly<Record<string, number>> = { [LATE]: 408 };

function badRequest(message: string): AppError {
  return new AppError("BAD_REQUEST", message);
}
