import { contentTypeProblem } from "@workflow/definition";
import { AppError } from "@workflow/errors";
import { HttpClientError } from "@workflow/http-client";
import type { HttpClientErrorCode, HttpRequester, SafeResponse } from "@workflow/http-client";
import type { LoadedFile } from "./file.ts";

/** Limits of one file, and what is told while it comes. */
export interface FetchLimits {
  /** Where the file is in what the caller sent. */
  path: readonly string[];
  /** Of this file, in bytes. */
  bytesMax: number;
  /** Of all files that came with it, for the message. */
  bytesMaxOfAll: number;
  /** Told of bytes that come; while its promise is pending no more are read. */
  takeRoom: (bytes: number) => Promise<void> | undefined;
  timeoutMs: number;
  signal: AbortSignal;
}

const REDIRECTS_MAX = 3;
const MIB = 1024 * 1024;
/** Another try may go well. */
const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([408, 409, 425, 429]);
/** What would come again, whatever the time. */
const FINAL_CODES: ReadonlySet<HttpClientErrorCode> = new Set([
  "INVALID_URL",
  "INVALID_REQUEST",
  "ADDRESS_NOT_ALLOWED",
  "RESPONSE_TOO_LARGE",
  "TOO_MANY_REDIRECTS",
  "REDIRECT_REFUSED",
]);

/**
 * Fetches a file that a tenant named by its URL. Nothing of ours goes along, so redirects may lead anywhere
 * that is public.
 *
 * @throws AppError BAD_REQUEST naming the URL's place when it would fail again, else UPSTREAM_ERROR
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
    // What was thrown while it waited for memory says more.
    if (error.cause instanceof AppError) throw error.cause;
    const tooLarge = `takes the files beyond ${bytesMaxOfAll / MIB} MiB together`;
    if (error.code === "RESPONSE_TOO_LARGE") throw refused(path, tooLarge, error);
    const what = `could not be fetched: ${error.message.replace(/\.$/, "")}`;
    throw FINAL_CODES.has(error.code) ? refused(path, what, error) : failed(path, what, error);
  }
}

/** Without parameters; undefined when the server gives none that is a file's. */
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
