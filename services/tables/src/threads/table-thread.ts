import { parentPort, workerData } from "node:worker_threads";
import type { CacheEvent } from "../snapshots/cache-events.ts";
import { TableReader } from "../snapshots/index.ts";
import { fromPlainError, toPlainError } from "./protocol.ts";
import type {
  FromThread,
  Question,
  Questions,
  Reply,
  ThreadOptions,
  ToThread,
} from "./protocol.ts";
import { RemoteConnections } from "./remote-database.ts";

/*
 * A thread that holds the columns of some tables and answers questions about them. It has no connections:
 * the main thread makes its statements.
 */

const port = parentPort;
if (port === null) throw new Error("This runs as a thread only.");
const say = (message: FromThread): void => port.postMessage(message);

const options: ThreadOptions = workerData;
const counts = new Map<CacheEvent, number>();
const waiting = new Map<number, PromiseWithResolvers<Reply>>();
let requests = 0;

const connections = new RemoteConnections((request) => {
  const id = ++requests;
  const reply = Promise.withResolvers<Reply>();
  waiting.set(id, reply);
  say({ type: "request", id, request });
  return reply.promise;
});
const reader = new TableReader({
  connections,
  cacheBytesMax: options.cacheBytesMax,
  companyBytesMax: options.companyBytesMax,
  onEvent: (event, count = 1) => counts.set(event, (counts.get(event) ?? 0) + count),
});

port.on("message", (message: ToThread) => {
  switch (message.type) {
    case "ask":
      void answer(message.id, message.question);
      break;
    case "forget":
      reader.invalidate(message.table);
      break;
    case "reply":
      take(message.id).resolve(message.reply);
      break;
    case "failure":
      take(message.id).reject(fromPlainError(message.error));
      break;
  }
});

async function answer(id: number, question: Question): Promise<void> {
  try {
    const found = await work(id, question);
    report();
    say({ type: "answer", id, answer: found });
  } catch (error) {
    report();
    say({ type: "failure", id, error: toPlainError(error) });
  }
}

async function work(id: number, question: Question): Promise<Questions[keyof Questions]["answer"]> {
  switch (question.kind) {
    case "page": {
      const { head, query } = question.query;
      const answered = await reader.page(head, query, (database, page) =>
        connections.readPage(database, page, id),
      );
      return answered === null ? null : { answer: null };
    }
    case "distinct":
      return reader.distinct(question.query.head, question.query.query);
    case "figures":
      return reader.figures(question.query.head, question.query.query);
    case "companyBytes":
      return reader.companyBytes();
  }
}

/** Before the answer, so that whoever has it finds itself counted. */
function report(): void {
  if (counts.size === 0) return;
  say({ type: "report", events: [...counts], usage: reader.usage });
  counts.clear();
}

function take(id: number): PromiseWithResolvers<Reply> {
  const reply = waiting.get(id);
  if (reply === undefined) throw new Error("A reply that nobody waits for.");
  waiting.delete(id);
  return reply;
}
