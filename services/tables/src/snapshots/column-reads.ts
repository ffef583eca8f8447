import { setImmediate as nextTurn } from "node:timers/promises";
import type { Reading } from "@workflow/db";
import { createVector } from "../engine/index.ts";
import type { VectorName } from "../engine/index.ts";
import type { OnCacheEvent } from "../memory/cache-events.ts";
import { LOAD_SLICE_MS } from "../memory/slices.ts";
import type { Slices } from "../memory/slices.ts";
import type { TableKey } from "../store/states.ts";
import { loadVectors } from "./load-vectors.ts";
import { memberOf } from "./read-part.ts";
import type { LoadedVector, Snapshot } from "./snapshot.ts";
import type { TableMemory } from "./table-memory.ts";
import type { TableSpill } from "./table-spill.ts";

/** The resources for bringing columns of one table into memory. */
export interface ColumnReadsResources {
  readonly table: TableKey;
  readonly slices: Slices;
  readonly memory: TableMemory;
  readonly spill: TableSpill;
  readonly onEvent: OnCacheEvent;
}

/** The wanted columns, and the circumstances of their reading. */
export interface WantedColumns {
  readonly names: readonly VectorName[];
  /** Whether a transaction stays open while they are read. */
  readonly isFrozen: boolean;
  readonly signal?: AbortSignal;
}

/** Brings columns of one table into memory, and counts the memory of each load as it grows. */
export class ColumnReads {
  readonly #resources: ColumnReadsResources;

  constructor(resources: ColumnReadsResources) {
    this.#resources = resources;
  }

  /**
   * Reads those of the columns that are on disk. They may be behind the snapshot. Rows must keep their indexes
   * until it ends.
   * @throws the signal's reason when that is aborted first; AppError when the columns take too much memory
   */
  async fromDisk(
    snapshot: Snapshot,
    names: readonly VectorName[],
    signal: AbortSignal,
  ): Promise<LoadedVector[]> {
    const { spill, memory } = this.#resources;
    const kept = names.filter((name) => spill.bytesOf(snapshot, name) > 0);
    if (kept.length === 0) return [];
    const load = memory.load();
    try {
      load.grown(kept.reduce((sum, name) => sum + spill.bytesOf(snapshot, name), 0));
      const taken = kept.map((name) => spill.takeColumn(snapshot, name, signal));
      return (await Promise.all(taken)).filter((column) => column !== null);
    } finally {
      load.end();
    }
  }

  /**
   * Reads columns as the database has them now. Null means that the database has another history than the snapshot.
   * Rows must keep their indexes until it ends.
   * @throws the signal's reason when that is aborted first; AppError when the columns take too much memory
   */
  async fromDatabase(
    database: Reading,
    snapshot: Snapshot,
    { names, ...turns }: WantedColumns,
  ): Promise<LoadedVector[] | null> {
    const { table, slices, memory, onEvent } = this.#resources;
    onEvent("load", names.length);
    onEvent("scan");
    const load = memory.load();
    try {
      return await loadVectors({
        database,
        tableKey: table.tableKey,
        snapshot,
        names,
        inTurns: async (steps) => {
          const owner = { companyId: table.companyId, sliceMs: LOAD_SLICE_MS, ...turns };
          await slices.run(owner, steps, () => true);
        },
        onGrown: (bytes) => load.grown(bytes),
      });
    } finally {
      load.end();
    }
  }

  /** Makes columns from the data of all rows at the snapshot's revision. */
  async ofDatas(
    snapshot: Snapshot,
    names: readonly VectorName[],
    datas: readonly unknown[],
  ): Promise<void> {
    const { memory, onEvent } = this.#resources;
    onEvent("load", names.length);
    const load = memory.load();
    let bytes = 0;
    try {
      for (const { key, type } of names) {
        const vector = createVector(type);
        vector.append(datas.map((data) => memberOf(data, key)));
        bytes += vector.bytes;
        load.grown(bytes);
        snapshot.putCurrent({ key, type, vector });
        await nextTurn();
      }
    } finally {
      load.end();
    }
  }
}
