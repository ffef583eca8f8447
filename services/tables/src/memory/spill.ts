import { deserialize, serialize } from "node:v8";
import type { Steps } from "../engine/index.ts";
import type { Cached } from "./memory-budget.ts";
import type { TableName } from "../store/states.ts";
import type { SpillDisk } from "./spill-disk.ts";
import type { Stored } from "./spill-file.ts";

/** The version of a value. Two values of one thing and the same version are equal. */
export interface SpillVersion {
  /** The layout of the rows (`Snapshot.layout`). */
  readonly layout: number;
  readonly revision: number;
  /** Whether the value includes the order of its values. */
  readonly isOrdered: boolean;
}

/** The facts about a saved value. */
export interface SpillEntry {
  readonly version: SpillVersion;
  /** The estimated bytes in memory. */
  readonly bytes: number;
}

/** The way from values of a type to plain data and back. */
export interface SpillForm<Value, Part> {
  save(value: Value): Iterable<Part>;
  restore(parts: Iterable<Part>): Steps<Value>;
}

/** A value that is on disk, or on its way there. */
class Entry<Value> implements Cached, SpillEntry {
  readonly companyId: string;
  readonly version: SpillVersion;
  readonly bytes: number;
  readonly drop: () => void;
  /** The value until it is on disk. */
  value: Value | null;
  stored: Stored | null = null;
  readers = 0;
  /** Whether nobody will ask for it again. */
  isGone = false;

  constructor(companyId: string, value: Value, { version, bytes }: SpillEntry, drop: () => void) {
    this.companyId = companyId;
    this.version = version;
    this.bytes = bytes;
    this.value = value;
    this.drop = drop;
  }

  get inUse(): boolean {
    return this.stored === null || this.readers > 0;
  }
}

/**
 * Saves values to disk that do not fit into memory, so that they need not be read from the database again. It is a
 * cache: lost values are read from the database, and returned values may be behind the table.
 */
export class Spill<Value extends object, Part> {
  readonly #disk: SpillDisk;
  readonly #form: SpillForm<Value, Part>;
  readonly #tables = new Map<string, Map<string, Entry<Value>>>();

  constructor(disk: SpillDisk, form: SpillForm<Value, Part>) {
    this.#disk = disk;
    this.#form = form;
  }

  /**
   * Saves a value, which must not change any more. It does nothing when the same version is on disk already, or
   * when too much waits to be written.
   * @param id unique within the table
   */
  save(table: TableName, id: string, value: Value, about: SpillEntry): void {
    const known = this.#find(table, id);
    if (known !== undefined && isSame(known.version, about.version)) return;
    if (known !== undefined) this.#remove(table, id, known);
    const release = this.#disk.takePending(about.bytes);
    if (release === null) {
      this.#disk.onEvent("spill skipped");
      return;
    }
    const drop = (): void => this.#remove(table, id, entry);
    const entry = new Entry(table.companyId, value, about, drop);
    const entries = this.#tables.get(keyOf(table)) ?? new Map<string, Entry<Value>>();
    this.#tables.set(keyOf(table), entries.set(id, entry));
    void this.#write(entry, value).finally(release);
  }

  /** The facts about a saved value; null when there is none. */
  find(table: TableName, id: string): SpillEntry | null {
    return this.#find(table, id) ?? null;
  }

  /**
   * Returns a saved value; null when there is none, or when it cannot be read. A copy stays on disk only when that
   * is asked for.
   * @throws the signal's reason when that is aborted first
   */
  async take(
    table: TableName,
    id: string,
    { keep, signal }: { keep: boolean; signal?: AbortSignal | undefined },
  ): Promise<Value | null> {
    const entry = this.#find(table, id);
    if (entry === undefined) return null;
    const { value } = entry;
    if (value !== null) {
      this.#remove(table, id, entry);
      return value;
    }
    const reading = this.#read(entry);
    // The entry is removed after the reading has begun, so that nobody else gets its room.
    if (!keep) this.#remove(table, id, entry);
    const pieces = await reading;
    if (pieces === null) {
      this.#remove(table, id, entry);
      return null;
    }
    if (!entry.isGone) this.#disk.use(entry, pieces);
    const steps = this.#form.restore(deserialized<Part>(pieces));
    const isOfUse = (): boolean => true;
    const restored = await this.#disk.inTurns(table.companyId, steps, { isOfUse, signal });
    this.#disk.onEvent("restored");
    return restored?.answer ?? null;
  }

  /** Discards the saved values of a table. */
  forget(table: TableName): void {
    for (const [id, entry] of this.#tables.get(keyOf(table)) ?? []) this.#remove(table, id, entry);
  }

  #find(table: TableName, id: string): Entry<Value> | undefined {
    return this.#tables.get(keyOf(table))?.get(id);
  }

  #remove(table: TableName, id: string, entry: Entry<Value>): void {
    const entries = this.#tables.get(keyOf(table));
    if (entries?.get(id) === entry) {
      entries.delete(id);
      if (entries.size === 0) this.#tables.delete(keyOf(table));
    }
    this.#disk.forget(entry);
    entry.isGone = true;
    this.#freeUnread(entry);
  }

  #freeUnread(entry: Entry<Value>): void {
    if (!entry.isGone || entry.readers > 0 || entry.stored === null) return;
    this.#disk.file.free(entry.stored);
    entry.stored = null;
  }

  async #write(entry: Entry<Value>, value: Value): Promise<void> {
    const disk = this.#disk;
    const isOfUse = (): boolean => !entry.isGone;
    try {
      const steps = serialized(this.#form.save(value));
      const made = await disk.inTurns(entry.companyId, steps, { isOfUse });
      if (made === null || entry.isGone) return;
      entry.stored = await disk.write(entry, made.answer);
      entry.value = null;
      disk.onEvent(entry.stored === null ? "spill skipped" : "spilled");
      if (entry.stored === null) entry.drop();
    } catch (error) {
      disk.failed(error);
      entry.drop();
    } finally {
      this.#freeUnread(entry);
    }
  }

  async #read(entry: Entry<Value>): Promise<Buffer[] | null> {
    const { stored } = entry;
    if (stored === null) return null;
    entry.readers += 1;
    try {
      return await this.#disk.file.read(stored);
    } catch (error) {
      this.#disk.failed(error);
      return null;
    } finally {
      entry.readers -= 1;
      this.#freeUnread(entry);
    }
  }
}

function* serialized(parts: Iterable<unknown>): Steps<Buffer[]> {
  const pieces: Buffer[] = [];
  for (const part of parts) {
    pieces.push(serialize(part));
    yield;
  }
  return pieces;
}

/** What the file gives back is what this process has written. */
function* deserialized<Part>(pieces: readonly Buffer[]): Generator<Part, void, undefined> {
  for (const piece of pieces) {
    const part: Part = deserialize(piece);
    yield part;
  }
}

function isSame(a: SpillVersion, b: SpillVersion): boolean {
  return a.layout === b.layout && a.revision === b.revision && a.isOrdered === b.isOrdered;
}

function keyOf({ companyId, tableId }: TableName): string {
  return `${companyId}/${tableId}`;
}
