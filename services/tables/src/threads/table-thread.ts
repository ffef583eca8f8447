import { parentPort, workerData } from "node:worker_threads";
import type { CacheEvent } from "../memory/cache-events.ts";
import { SpillFile } from "../memory/spill-file.ts";
import type { SpillPlace } from "../memory/spill-file.ts";
import { TableReader } from "../snapshots/index.ts";
import type { ReadingCaller } from "../store/reading-database.ts";
import { fromPlainError, toPlainError } from "./protocol.ts";
import type { FromThread, Question, Questions, ThreadOptions, ToThread } from "./protocol.ts";
import { RemoteConnections } from "./remote-database.ts";
import { CallerLeft, Requests } from "./requests.ts";

/*
 * A thread that holds the columns of some tables and answers questions about them. It has no connections, so the
 * main thread makes its statements.
 */

const port = parentPort;
if (port === null) throw new Error("This runs as a thread only.");
const say = (message: FromThread): void => port.postMessage(message);

const options: ThreadOptions = workerData;
const counts = new Map<CacheEvent, number>();
const count = (event: CacheEvent, times = 1): void =>
  void counts.set(event, (counts.get(event) ?? 0) + times);
const requests = new Requests(say);
const connections = new RemoteConnections((request, caller) => requests.make(request, caller));
const reader = new TableReader({
  connections,
  cacheBytesMax: options.cacheBytesMax,
  companyBytesMax: options.companyBytesMax,
  spill: openSpill(options.spill),
  onEvent: count,
});
/** The questions under way, by their ids. */
const answering = new Map<number, AbortController>();

port.on("message", (message: ToThread) => {
  switch (message.type) {
    case "ask":
      void answer(message.id, message.question);
      break;
    case "cancel":
      answering.get(message.id)?.abort(new CallerLeft());
      break;
    case "forget":
      reader.invalidate(message.table);
      break;
    case "reply":
      requests.take(message.id).resolve(message.reply);
      break;
    case "failure":
      requests.take(message.id).reject(fromPlainError(message.error));
      break;
  }
});

async function answer(id: number, question: Question): Promise<void> {
  const leaving = new AbortController();
  answering.set(id, leaving);
  try {
    const found = await work(id, question, leaving);
    report();
    say({ type: "answer", id, answer: found });
  } catch (error) {
    if (leaving.signal.aborted) count("left");
    report();
    say({ type: "failure", id, error: toPlainError(error) });
  } finally {
    answering.delete(id);
  }
}

async function work(
  id: number,
  question: Question,
  caller: ReadingCaller,
): Promise<Questions[keyof Questions]["answer"]> {
  switch (question.kind) {
    case "page": {
      const { head, query } = question.query;
      const answered = await reader.page(head, query, caller, (database, page) =>
        connections.readPage(database, page, id),
      );
      return answered === null ? null : { answer: null };
    }
    case "distinct":
      return reader.distinct(question.query.head, question.query.query, caller);
    case "figures":
      return reader.figures(question.query.head, question.query.query, caller);
    case "memoryUse":
      return reader.memoryUse();
  }
}

/**
 * Opens the file for columns. Without one the thread reads columns from the database again, and a metric tells the
 * operator.
 */
function openSpill(place: SpillPlace | undefined) {
  if (place === undefined) return undefined;
  const { directory, bytesMax } = place;
  try {
    const onFault = (error: unknown): void => say({ type: "fault", error: toPlainError(error) });
    return { ...place, file: SpillFile.open(directory, bytesMax), onFault };
  } catch (error) {
    count("spill failed");
    say({ type: "fault", error: toPlainError(error) });
    return undefined;
  }
}

/** Reports events before the answer, so that callers find their own questions counted. */
function report(): void {
  if (counts.size === 0) return;
  say({ type: "report", events: [...counts], usage: reader.usage });
  counts.clear();
}
