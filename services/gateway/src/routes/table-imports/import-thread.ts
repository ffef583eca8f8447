import { parentPort, workerData } from "node:worker_threads";
import { isAppError } from "@workflow/errors";
import type { ImportJob, ReaderMessage } from "./import-plan.ts";
import { readImport } from "./read-import.ts";

/**
 * The thread that reads one large file, so that the gateway's own thread goes on serving requests.
 * It makes each batch of rows on request.
 */

const port = parentPort;
if (port === null) throw new Error("This runs as a thread only.");
const say = (message: ReaderMessage): void => port.postMessage(message);

try {
  const job: ImportJob = workerData;
  const { table, batches, lines } = readImport(job);
  const iterator = batches[Symbol.iterator]();
  port.on("message", () => {
    const next = iterator.next();
    if (next.done !== true) say({ type: "rows", rows: next.value });
    else {
      say({ type: "end" });
      port.close();
    }
  });
  say({ type: "table", table, lines });
} catch (error) {
  if (!isAppError(error)) throw error;
  const { reason, message, violations } = error;
  say({ type: "refused", reason, message, violations });
}
