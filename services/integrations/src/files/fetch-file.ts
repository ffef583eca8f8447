import { contentTypeProblem } from "@workflow/definition";
import { AppError } from "@workflow/errors";
import { HttpClientError } from "@workflow/http-client";
import type { HttpClientErrorCode, HttpRequester, SafeResponse } from "@workflow/http-client";
import type { LoadedFile } from "./file.ts";

/** The limits of one file, and its consumer of memory. */
export interface FetchLimits {
  /** The path of the file in the request. */
  path: readonly string[];
  /** The limit of this file, in bytes. */
  bytesMax: number;
  /** The limit of all files of the request, for the message. */
  bytesMaxOfAll: number;
  /** Reserves memory for bytes that arrive; reading pauses while the promise is pending. */
  takeRoom: (bytes: number) => Promise<void> | undefined;
  timeoutMs: number;
  signal: AbortSignal;
}

const REDIRECTS_MAX = 3;
const MIB = 1024 * 1024;
/** Statuses after which another try may succeed. */
const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 409, 425, 429]);
/** Errors that would occur again at any time. */
const FINAL_CODES: ReadonlySet<HttpClientErrorCode> = new Set([
  "INVALID_URL",
  "INVALID_REQUEST",
  "ADDRESS_NOT_ALLOWED",
  "RESPONSE_TOO_LARGE",
  "TOO_MANY_REDIRECTS",
  "REDIRECT_REFUSED",
]);

/**
 * Fetches a file from the URL that a tenant names. The request has no credentials of ours, so redirects
 * may lead to any public host.
 *
 * @throws AppError BAD_REQUEST naming the URL's path when another try would fail too; otherwise
 * UPSTREAM_ERROR
 */
export async function fetchFile(
  http: HttpRequester,
  file: { filename: string; contentType: string | undefined; url: string },
  limits: FetchLimits,
): Promise<LoadedFile> {
  const { path, bytesMax, bytesMaxOfAll, takeRoom, timeoutMs, signal } = limits;
  try {
    const response = await http.request(
      {
        method: "GET",
        url: file.url,
        headers: { accept: "*/*" },
        timeoutMs,
        maxResponseBytes: bytesMax,
        followRedirects: REDIRECTS_MAX,
        onData: takeRoom,
      },
      signal,
    );
    if (response.status !== 200) throw wrongStatus(response, path);
    const { filename, contentType = typeOf(response) } = file;
    return { filename, contentType, content: response.body };
  } catch (error) {
    if (!(error instanceof HttpClientError)) throw error;
    // The error of the wait for memory is more precise.
    if (error.cause instanceof AppError) throw error.cause;
    const tooLarge = `takes the files beyond ${bytesMaxOfAll / MIB} MiB together`;
    if (error.code === "RESPONSE_TOO_LARGE") throw refused(path, tooLarge, error);
    const what = `could not be fetched: ${error.message.replace(/\.$/, "")}`;
    throw FINAL_CODES.has(error.code) ? refused(path, what, error) : failed(path, what, error);
  }
}

/** The media type without parameters; undefined when the server sends none that suits a file. */
function typeOf({ headers }: SafeResponse): string | undefined {
  const type = String(headers["content-type"] ?? "")
    .split(";")[0]
    ?.trim()
    .toLowerCase();
  return type === undefined || contentTypeProblem(type) !== null ? undefined : type;
}

function wrongStatus({ status }: SafeResponse, path: readonly string[]): AppError {
  const what = `could not be fetched: the server answered with status ${status}`;
  return status >= 500 || RETRYABLE_STATUSES.has(status) ? failed(path, what) : refused(path, what);
}

function refused(path: readonly string[], message: string, cause?: unknown): AppError {
  const place = [...path, "url"];
  return new AppError("BAD_REQUEST", `${place.join(".")} ${message}.`, {
    violations: [{ path: place, message }],
    cause,
  });
}

function failed(path: readonly string[], message: string, cause?: unknown): AppError {
  return new AppError("UPSTREAM_ERROR", `${[...path, "url"].join(".")} ${message}.`, { cause });
}
