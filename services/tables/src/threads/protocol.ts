import type { PlainRow, PlainStatement } from "@workflow/db";
import { AppError, toAppError } from "@workflow/errors";
import type { AppErrorOptions, Reason } from "@workflow/errors";
import type { RowQuery } from "../domain/row-query.ts";
import type { AggregateQuery, DistinctQuery, DistinctValues } from "../engine/index.ts";
import type { CacheEvent, CacheUsage, MemoryUse } from "../memory/cache-events.ts";
import type { SpillPlace } from "../memory/spill-file.ts";
import type { Answered, Figures, Outcome, PlannedPage } from "../snapshots/index.ts";
import type { TableHead, TableName } from "../store/states.ts";

/*
 * The messages between the thread with the connections ("main") and a thread with columns. All of them are plain
 * data.
 */

/** The options of a thread at its start. */
export interface ThreadOptions {
  readonly cacheBytesMax: number;
  readonly companyBytesMax: number | undefined;
  /** The place on disk for columns that do not fit into memory. */
  readonly spill: SpillPlace | undefined;
}

/** The questions to a thread, and their answers. */
export interface Questions {
  /** Main keeps the rows of a page, and answers as soon as it has read them. */
  page: { query: { head: TableHead; query: RowQuery }; answer: Answered<null> };
  distinct: {
    query: { head: TableHead; query: DistinctQuery };
    answer: Answered<DistinctValues>;
  };
  figures: {
    query: { head: TableHead; query: AggregateQuery };
    answer: Answered<Figures>;
  };
  memoryUse: { query: null; answer: MemoryUse };
}

type Kind = keyof Questions;

/** A question of one of the kinds. */
export type Question<K extends Kind = Kind> = {
  [Each in K]: { readonly kind: Each; readonly query: Questions[Each]["query"] };
}[K];

/** The place of a statement: a transaction that has begun, or any connection. */
export interface Place {
  readonly companyId: string;
  readonly transaction: number | null;
}

/** A request of a thread to main. */
export type Request =
  | { readonly kind: "rows"; readonly place: Place; readonly statement: PlainStatement }
  /** `ask` is the question that the page answers. */
  | {
      readonly kind: "page";
      readonly place: Place;
      readonly ask: number;
      readonly page: PlannedPage;
    }
  | { readonly kind: "begin"; readonly companyId: string; readonly transaction: number }
  | { readonly kind: "end"; readonly transaction: number; readonly failed: boolean };

/** The answers of main. */
export type Reply =
  | { readonly kind: "rows"; readonly rows: readonly PlainRow[] }
  | { readonly kind: "page"; readonly outcome: Outcome<null> }
  | { readonly kind: "done" };

/** An error as it crosses threads. */
export interface PlainError extends AppErrorOptions {
  readonly reason: Reason;
  readonly message: string;
}

/** The counted events since the last report. */
export type CountedEvents = readonly (readonly [event: CacheEvent, count: number])[];

export type ToThread =
  | { readonly type: "ask"; readonly id: number; readonly question: Question }
  /** The caller has left, and the work for the answer may end. */
  | { readonly type: "cancel"; readonly id: number }
  | { readonly type: "forget"; readonly table: TableName }
  | { readonly type: "reply"; readonly id: number; readonly reply: Reply }
  | { readonly type: "failure"; readonly id: number; readonly error: PlainError };

export type FromThread =
  | { readonly type: "answer"; readonly id: number; readonly answer: Questions[Kind]["answer"] }
  | { readonly type: "failure"; readonly id: number; readonly error: PlainError }
  | { readonly type: "request"; readonly id: number; readonly request: Request }
  /**
   * Nobody needs the answer to this request any more. Main answers it all the same, perhaps with a failure.
   */
  | { readonly type: "withdraw"; readonly id: number }
  /** The disk for columns has failed. */
  | { readonly type: "fault"; readonly error: PlainError }
  | { readonly type: "report"; readonly events: CountedEvents; readonly usage: CacheUsage };

/** The plain form of an error; its cause becomes a text. */
export function toPlainError(error: unknown): PlainError {
  const { reason, message, internal, violations, details, retryAfterMs, cause } = toAppError(error);
  const inside = internal ?? (cause instanceof Error ? cause.message : undefined);
  return {
    reason,
    message,
    violations,
    details,
    ...(inside === undefined ? {} : { internal: inside }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** The error of a plain form. */
export function fromPlainError({ reason, message, ...options }: PlainError): AppError {
  return new AppError(reason, message, options);
}
