import type { VectorName } from "../engine/index.ts";
import type { LoadLimits } from "../memory/load-limits.ts";
import type { Cached, MemoryBudget } from "../memory/memory-budget.ts";
import { idOf } from "./snapshot.ts";
import type { Snapshot } from "./snapshot.ts";

/** A rough estimate of a table's memory beside its rows and columns. */
const BASE_BYTES = 1_024;

/** The reason why a table's memory was released: others need it, or its content is useless. */
export type DropCause = "evicted" | "useless";

/** One table's part of the memory for columns: an entry for the table, and one for each column. */
export class TableMemory implements Cached {
  readonly companyId: string;
  readonly #budget: MemoryBudget;
  readonly #limits: LoadLimits;
  readonly #slots = new Map<string, Cached>();
  readonly #loads = new Set<Cached>();
  readonly #uses = new Map<string, { readonly name: VectorName; count: number }>();
  readonly #onDropped: ((cause: DropCause) => void)[] = [];
  #onColumnEvicted: (snapshot: Snapshot, name: VectorName) => void = () => {};
  #snapshot: Snapshot | null = null;
  #users = 0;

  constructor({ budget, limits }: { budget: MemoryBudget; limits: LoadLimits }, companyId: string) {
    this.#budget = budget;
    this.#limits = limits;
    this.companyId = companyId;
  }

  get inUse(): boolean {
    return this.#users > 0;
  }

  /** Registers a callback for the release of everything. */
  onDropped(hear: (cause: DropCause) => void): void {
    this.#onDropped.push(hear);
  }

  /** Registers a callback that runs before a column is dropped for want of memory. */
  onColumnEvicted(hear: (snapshot: Snapshot, name: VectorName) => void): void {
    this.#onColumnEvicted = hear;
  }

  drop(cause: DropCause = "evicted"): void {
    this.forget();
    for (const hear of this.#onDropped) hear(cause);
  }

  /** Keeps the table and these columns in memory until the returned function is called. */
  use(names: readonly VectorName[]): () => void {
    const uses = names.map((name) => this.#useOf(name));
    this.#users += 1;
    for (const use of uses) use.count += 1;
    return () => {
      this.#users -= 1;
      for (const use of uses) {
        use.count -= 1;
        if (use.count === 0) this.#uses.delete(idOf(use.name));
      }
      // Queries leave data in columns, such as the order of their values.
      if (this.#snapshot !== null) this.#noteSizes(this.#snapshot);
      this.#budget.trim(this.companyId);
    };
  }

  /** The columns that callers of `use` keep now. */
  namesInUse(): VectorName[] {
    return Array.from(this.#uses.values(), ({ name }) => name);
  }

  /**
   * Counts a column while it is loaded. `grown` reports its size, and columns of others make room for it. `grown`
   * throws when questions use too much (`LoadLimits`). Callers must call `end` in any case.
   */
  load(): { grown(bytes: number): void; end(): void } {
    const { companyId } = this;
    const loading: Cached = { companyId, inUse: true, drop: () => {} };
    this.#loads.add(loading);
    return {
      grown: (bytes) => {
        this.#budget.use(loading, bytes);
        this.#budget.trim(companyId);
        this.#limits.check(companyId, this.#bytesInUse());
      },
      end: () => {
        this.#loads.delete(loading);
        this.#budget.forget(loading);
      },
    };
  }

  #bytesInUse(): number {
    let bytes = 0;
    for (const each of [this, ...this.#slots.values(), ...this.#loads]) {
      if (each.inUse) bytes += this.#budget.bytesOf(each);
    }
    return bytes;
  }

  /** Records a use of the snapshot and of these columns, and the size of everything. */
  used(snapshot: Snapshot, names: readonly VectorName[]): void {
    this.#snapshot = snapshot;
    this.#noteSizes(snapshot);
    for (const name of names) {
      if (!snapshot.has(name)) continue;
      this.#budget.use(this.#slotOf(snapshot, name), snapshot.vector(name.key, name.type).bytes);
    }
    // The table comes after its columns, so that it is not dropped before them.
    this.#budget.use(this, BASE_BYTES + snapshot.bytes);
    this.#budget.trim(this.companyId);
  }

  /** Records that a column has left the snapshot. */
  forgetColumn(name: VectorName): void {
    const id = idOf(name);
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    this.#budget.forget(slot);
    this.#slots.delete(id);
  }

  /** Records that the snapshot is gone. */
  forget(): void {
    for (const slot of this.#slots.values()) this.#budget.forget(slot);
    this.#slots.clear();
    this.#budget.forget(this);
    this.#snapshot = null;
  }

  #noteSizes(snapshot: Snapshot): void {
    for (const loaded of snapshot.vectors()) {
      this.#budget.resize(this.#slotOf(snapshot, loaded), loaded.vector.bytes);
    }
  }

  #useOf({ key, type }: VectorName): { readonly name: VectorName; count: number } {
    const id = idOf({ key, type });
    const use = this.#uses.get(id) ?? { name: { key, type }, count: 0 };
    this.#uses.set(id, use);
    return use;
  }

  #slotOf(snapshot: Snapshot, { key, type }: VectorName): Cached {
    const id = idOf({ key, type });
    const known = this.#slots.get(id);
    if (known !== undefined) return known;
    const uses = this.#uses;
    const slot: Cached = {
      companyId: this.companyId,
      get inUse() {
        return uses.has(id);
      },
      drop: () => {
        this.#slots.delete(id);
        this.#onColumnEvicted(snapshot, { key, type });
        snapshot.drop({ key, type });
      },
    };
    this.#slots.set(id, slot);
    return slot;
  }
}
