import { Turns } from "@workflow/async";
import { createSafeHttpClient } from "@workflow/http-client";
import { AppError } from "@workflow/errors";
import { fetchFile } from "./fetch-file.ts";
import type { LoadedFile, NamedFile } from "./file.ts";

/** The network options for hosts that tenants name. */
export interface FileLoaderOptions {
  allowPrivate: boolean;
  dnsServers?: readonly string[] | undefined;
  nat64Prefixes?: readonly string[] | undefined;
}

/** The company of the files, and their limits. */
export interface FileRequest {
  companyId: string;
  files: readonly NamedFile[];
  /** The path of the files in the request; violations append the index of a file. */
  path: readonly string[];
  /** The limit of all files together. */
  bytesMax: number;
  signal: AbortSignal;
}

/** Loads the bytes of files that tenants name. */
export interface FileLoader {
  /**
   * Does work with the bytes of some files, once there is memory for them. The work must not keep the
   * bytes.
   *
   * @throws AppError BAD_REQUEST naming a file that cannot be fetched; UPSTREAM_ERROR when it may be
   * fetched later or too many are in memory; the signal's reason when it was aborted; any error of the
   * work
   */
  withFiles<Result>(
    request: FileRequest,
    work: (files: readonly LoadedFile[]) => Promise<Result>,
  ): Promise<Result>;
  close(): Promise<void>;
}

const MIB = 1024 * 1024;
/**
 * The limit of file bytes in memory. Encoding a message for a provider takes up to five times its
 * bytes, so at most 300 MiB in all. A company may hold two of the largest messages.
 */
const HELD = { perTenant: 20 * MIB, total: 60 * MIB } as const;
/** A file from a URL reserves memory only beyond this size, so a silent server holds none. */
const SMALL_BYTES = 64 * 1024;
const WAIT_MS = 20_000;
const BUSY_RETRY_MS = 5_000;
/** The time limit for all files of a request. */
const FETCH_MS = 30_000;

/** Creates the loader. Connections open with the first files. */
export function createFileLoader(options: FileLoaderOptions): FileLoader {
  const http = createSafeHttpClient(options);
  const turns = new Turns(HELD);
  return {
    async withFiles({ companyId, files, path, bytesMax, signal }, work) {
      if (files.length === 0) return work([]);
      const given = files.reduce((sum, { source }) => sum + bytesGivenBy(source), 0);
      const fetches = files.some(({ source }) => source.$case === "url");
      const room = new Room(turns, companyId, fetches ? bytesMax : given, signal);
      try {
        if (given > 0) await room.take();
        const lateAt = performance.now() + FETCH_MS;
        const loaded: LoadedFile[] = [];
        let bytesLeft = bytesMax - given;
        for (const [index, file] of files.entries()) {
          const next = await load(http.forTenant(companyId), file, {
            path: [...path, String(index)],
            bytesMax: bytesLeft,
            bytesMaxOfAll: bytesMax,
            takeRoom: (bytes) => room.count(bytes),
            timeoutMs: Math.max(1, Math.ceil(lateAt - performance.now())),
            signal,
          });
          if (file.source.$case === "url") bytesLeft -= next.content.length;
          loaded.push(next);
        }
        return await work(loaded);
      } catch (error) {
        // oxlint-disable-next-line typescript/only-throw-error -- the reason is the caller's own
        if (signal.aborted) throw signal.reason;
        throw error;
      } finally {
        room.leave();
      }
    },
    close: () => http.close(),
  };
}

async function load(
  http: Parameters<typeof fetchFile>[0],
  file: NamedFile,
  limits: Parameters<typeof fetchFile>[2],
): Promise<LoadedFile> {
  const { filename, contentType, source } = file;
  if (source.$case === "content") return { filename, contentType, content: source.value };
  return fetchFile(http, { filename, contentType, url: source.value }, limits);
}

function bytesGivenBy(source: NamedFile["source"]): number {
  return source.$case === "content" ? source.value.length : 0;
}

/**
 * The memory of one request's files. It is reserved once and as a whole, so requests with a part of it
 * cannot deadlock.
 */
class Room {
  readonly #turns: Turns;
  readonly #companyId: string;
  readonly #bytes: number;
  readonly #over = new AbortController();
  readonly #signal: AbortSignal;
  #counted = 0;
  #taking: Promise<void> | undefined;
  #isTaken = false;
  #giveBack: (() => void) | undefined;

  constructor(turns: Turns, companyId: string, bytes: number, signal: AbortSignal) {
    this.#turns = turns;
    this.#companyId = companyId;
    this.#bytes = bytes;
    this.#signal = signal;
  }

  /** Counts bytes that arrived; a promise while they have to wait for memory. */
  count(bytes: number): Promise<void> | undefined {
    this.#counted += bytes;
    if (this.#isTaken || this.#counted <= SMALL_BYTES) return undefined;
    return this.take();
  }

  take(): Promise<void> {
    this.#taking ??= this.#take();
    return this.#taking;
  }

  async #take(): Promise<void> {
    const late = AbortSignal.timeout(WAIT_MS);
    const stop = AbortSignal.any([this.#signal, this.#over.signal, late]);
    try {
      const giveBack = await this.#turns.take(this.#companyId, stop, this.#bytes);
      this.#isTaken = true;
      if (this.#over.signal.aborted) giveBack();
      else this.#giveBack = giveBack;
    } catch (error) {
      throw late.aborted ? busy() : error;
    }
  }

  leave(): void {
    this.#over.abort();
    this.#giveBack?.();
  }
}

function busy(): AppError {
  const message = "Too many large attachments are under way.";
  return new AppError("UPSTREAM_ERROR", message, { retryAfterMs: BUSY_RETRY_MS });
}
