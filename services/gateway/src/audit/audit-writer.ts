import { databaseErrorToAppError } from "@workflow/db";
import type { Database } from "@workflow/db";
import { appendAudit } from "./record-audit.ts";
import type { AuditRecord } from "../domain/audit-record.ts";

/** Writes records that arrive one by one, many at a time. */
export interface AuditWriter {
  /** Resolves when the record is committed; rejects when this write failed. */
  write(record: AuditRecord): Promise<void>;
}

interface Pending extends PromiseWithResolvers<void> {
  record: AuditRecord;
}

const BATCH_MAX = 200;

/** Records that arrive while a batch is being written form the next batch. */
export function createAuditWriter(database: Database): AuditWriter {
  let pending: Pending[] = [];
  let isWriting = false;

  const append = (batch: readonly Pending[]): Promise<void> =>
    database.transaction((transaction) =>
      appendAudit(
        transaction,
        batch.map(({ record }) => record),
      ),
    );

  /** A record that the database refuses must not hold up the others of its batch. */
  const appendOneByOne = async (batch: readonly Pending[]): Promise<void> => {
    for (const each of batch) await append([each]).then(each.resolve, each.reject);
  };

  const writeBatch = async (batch: readonly Pending[]): Promise<void> => {
    try {
      await append(batch);
      for (const { resolve } of batch) resolve();
    } catch (error) {
      const isAway = databaseErrorToAppError(error).reason === "UNAVAILABLE";
      if (!isAway && batch.length > 1) return appendOneByOne(batch);
      for (const { reject } of batch) reject(error);
    }
  };

  const writeAll = async (): Promise<void> => {
    isWriting = true;
    while (pending.length > 0) {
      const batch = pending.slice(0, BATCH_MAX);
      pending = pending.slice(BATCH_MAX);
      await writeBatch(batch);
    }
    isWriting = false;
  };

  return {
    write(record) {
      const each = { record, ...Promise.withResolvers<void>() };
      pending.push(each);
      if (!isWriting) void writeAll();
      return each.promise;
    },
  };
}
