import { Worker } from "node:worker_threads";
import { AppError } from "@workflow/errors";
import type { CreateTableRequest } from "@workflow/proto/tables/v1/tables";
import type { ImportJob, ReaderMessage } from "./import-plan.ts";
import { readImport } from "./read-import.ts";

/** A file that was read; its rows are still to come. */
export interface OpenImport {
  table: CreateTableRequest;
  batches: AsyncIterable<string[]>;
  /** The line on which each row begins; null where rows are named by their index. */
  lines: Uint32Array | null;
  /** Ends the reading; call it in every case. */
  close(): Promise<void>;
}

/** Files up to this size take a few milliseconds to read; starting a thread takes some fifty. */
const INLINE_BYTES_MAX = 128 * 1024;
/**
 * Enough memory for a text of 64 MiB, the positions of its rows and its recognized types. Larger
 * files are refused.
 */
const HEAP_MB_MAX = 768;

const THREAD = new URL("./import-thread.ts", import.meta.url);

/**
 * Reads a file, in a thread of its own when it is large. The bytes then belong to the reader.
 * Rejects with BAD_REQUEST or PAYLOAD_TOO_LARGE and the file's problems.
 */
export async function openImport(job: ImportJob): Promise<OpenImport> {
  if (job.bytes.byteLength > INLINE_BYTES_MAX) return openInThread(job);
  const { table, batches, lines } = readImport(job);
  return {
    table,
    lines,
    batches: toAsync(batches),
    close: () => Promise.resolve(),
  };
}

async function* toAsync(batches: Iterable<string[]>): AsyncGenerator<string[]> {
  yield* batches;
}

async function openInThread(job: ImportJob): Promise<OpenImport> {
  const worker = new Worker(THREAD, {
    workerData: job,
    transferList: transferable(job.bytes),
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
  });
  const close = async (): Promise<void> => {
    await worker.terminate();
  };
  const messages = createMailbox(worker);
  try {
    const first = await messages.next();
    if (first.type === "refused") {
      throw new AppError(first.reason, first.message, { violations: first.violations });
    }
    if (first.type !== "table") throw new Error(`A reader began with ${first.type}.`);
    const { table, lines } = first;
    return { table, lines, batches: takeBatches(worker, messages), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** One batch is made while the previous one is sent. */
async function* takeBatches(worker: Worker, messages: Mailbox): AsyncGenerator<string[]> {
  const askForMore = (): void => worker.postMessage("more", []);
  askForMore();
  for (;;) {
    const message = await messages.next();
    if (message.type !== "rows") return;
    askForMore();
    yield message.rows;
  }
}

interface Mailbox {
  /** The next message; rejects when the thread ends without one. */
  next(): Promise<ReaderMessage>;
}

function createMailbox(worker: Worker): Mailbox {
  const letters: ReaderMessage[] = [];
  let failure: unknown;
  let notify = (): void => {};
  const fail = (error: unknown): void => {
    failure ??= error;
    notify();
  };
  worker.on("message", (message: ReaderMessage) => {
    letters.push(message);
    notify();
  });
  worker.on("error", (error) => fail(explain(error)));
  worker.on("exit", () => fail(new Error("The thread that reads an import has ended.")));
  return {
    async next() {
      for (;;) {
        const letter = letters.shift();
        if (letter !== undefined) return letter;
        if (failure !== undefined) throw failure;
        await new Promise<void>((resolve) => (notify = resolve));
      }
    },
  };
}

function explain(error: Error & { code?: string }): Error {
  if (error.code !== "ERR_WORKER_OUT_OF_MEMORY") return error;
  const message = "The file takes too much memory to be read. Import it in parts.";
  return new AppError("PAYLOAD_TOO_LARGE", message, { cause: error });
}

/** A buffer that holds nothing else is transferred without a copy. */
function transferable({ buffer, byteLength }: Uint8Array): ArrayBuffer[] {
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? [buffer] : [];
}
