import type { RunMemory } from "../memory/run-memory.ts";

/** Reads stored outputs as JSON text by path; null where there is none. */
export type ReadOutputs = (paths: readonly string[]) => Promise<ReadonlyMap<string, string | null>>;

/** Stored outputs that a run keeps in memory for the next step that reads them (JSON bytes). */
const KEPT_BYTES_MAX = 4 * 1024 * 1024;
/**
 * An output up to this size takes less memory than the query that would read it again, so it always stays
 * in memory.
 */
export const SMALL_OUTPUT_BYTES = 256;
/** The bytes of a result besides its output: its path and its entries in maps. */
export const RESULT_BYTES = 300;
/** Bytes of outputs that one query reads. */
const READ_BYTES_MAX = 8 * 1024 * 1024;
const READ_MAX = 1_000;
/** A character of JSON text takes at most this many bytes of UTF-8. */
const BYTES_PER_CHAR_MAX = 3;

/** The output of a step: its value, or that it is stored and was not needed yet (D56). */
export class StepOutput {
  readonly path: string;
  /** Bytes of the output's JSON text. */
  bytes: number;
  /** Characters of the output's JSON text. If only the bytes are known, the least that it can have. */
  charsMin: number;
  #held: { value: unknown } | null;

  constructor(
    path: string,
    size: { bytes: number; chars?: number },
    held: { value: unknown } | null,
  ) {
    this.path = path;
    this.bytes = size.bytes;
    this.charsMin = size.chars ?? Math.ceil(size.bytes / BYTES_PER_CHAR_MAX);
    this.#held = held;
  }

  /** Whether its value is in memory. */
  get isLoaded(): boolean {
    return this.#held !== null;
  }

  /** @throws Error when the value is not in memory; readers must pin it first */
  get value(): unknown {
    if (this.#held === null) throw new Error(`the output of ${this.path} was not loaded`);
    return this.#held.value;
  }

  hold(value: unknown): void {
    this.#held = { value };
  }

  drop(): void {
    this.#held = null;
  }

  /** Marks an output whose result no longer counts: it will not be read again. */
  forget(): void {
    this.bytes = 0;
    this.charsMin = 0;
    this.#held = { value: null };
  }
}

/** The output of a step that has none. */
export const NO_OUTPUT = new StepOutput("", { bytes: 0, chars: 4 }, { value: null });

/**
 * Decides which outputs of a run are in memory: those not stored yet, those that a running step reads,
 * and the last used ones up to some megabytes. The others are read again when a step names them.
 */
export class StepOutputs {
  readonly #read: ReadOutputs;
  readonly #memory: RunMemory;
  readonly #pins = new Map<StepOutput, number>();
  /** Outputs that are stored and in memory, in the order of their last use. */
  readonly #droppable = new Set<StepOutput>();
  #droppableBytes = 0;

  constructor(read: ReadOutputs, memory: RunMemory) {
    this.#read = read;
    this.#memory = memory;
    memory.onPressure = () => this.#shed(0);
  }

  /** Adds the output of a step that has just ended. It stays in memory until it is stored. */
  add(path: string, made: { value: unknown; text: string } | null, bytes: number): StepOutput {
    this.#memory.grow(RESULT_BYTES + (bytes > SMALL_OUTPUT_BYTES ? bytes : 0));
    if (made === null) return NO_OUTPUT;
    return new StepOutput(path, { bytes, chars: made.text.length }, made);
  }

  /** Called for outputs that were written, or that no longer count. */
  release(outputs: Iterable<StepOutput>): void {
    for (const output of outputs) {
      if (output.isLoaded && output.bytes > SMALL_OUTPUT_BYTES) this.#makeDroppable(output);
    }
    this.#shed(KEPT_BYTES_MAX);
    this.#memory.offer();
  }

  /** Drops outputs whose results no longer count. They will not be read again. */
  forget(outputs: Iterable<StepOutput>): void {
    for (const output of outputs) {
      if (output === NO_OUTPUT) continue;
      if (this.#droppable.delete(output)) this.#droppableBytes -= output.bytes;
      if (output.isLoaded && output.bytes > SMALL_OUTPUT_BYTES) this.#memory.shrink(output.bytes);
      output.forget();
    }
  }

  /**
   * Loads the values of outputs, and keeps them in memory until they are unpinned.
   *
   * @returns undefined when they are in memory already
   */
  pin(outputs: readonly StepOutput[]): Promise<void> | undefined {
    for (const output of outputs) this.#pins.set(output, (this.#pins.get(output) ?? 0) + 1);
    const missing = outputs.filter((output) => !output.isLoaded);
    if (missing.length === 0) return undefined;
    return this.#load([...new Set(missing)]).catch((error: unknown) => {
      this.unpin(outputs);
      throw error;
    });
  }

  unpin(outputs: readonly StepOutput[]): void {
    for (const output of outputs) {
      const pins = (this.#pins.get(output) ?? 0) - 1;
      if (pins > 0) this.#pins.set(output, pins);
      else this.#pins.delete(output);
      // The order of the set is that of last use.
      if (this.#droppable.delete(output)) this.#droppable.add(output);
    }
    this.#shed(KEPT_BYTES_MAX);
  }

  /** Drops all outputs that are stored: from now on the run only waits. */
  dropAll(): void {
    this.#pins.clear();
    this.#shed(0);
  }

  async #load(missing: readonly StepOutput[]): Promise<void> {
    await this.#memory.reserve(missing.reduce((sum, { bytes }) => sum + bytes, 0));
    let unread = [...missing];
    try {
      while (unread.length > 0) {
        const batch = takeBatch(unread);
        const texts = await this.#read(batch.map(({ path }) => path));
        for (const output of batch) this.#hold(output, texts.get(output.path));
        unread = unread.slice(batch.length);
      }
    } finally {
      this.#memory.shrink(unread.reduce((sum, { bytes }) => sum + bytes, 0));
    }
  }

  #hold(output: StepOutput, text: string | null | undefined): void {
    if (text === undefined) throw new Error(`the result of ${output.path} is missing`);
    if (output.isLoaded) {
      // Two fibers have read the output at the same time.
      this.#memory.shrink(output.bytes);
      return;
    }
    output.hold(text === null ? null : JSON.parse(text));
    this.#makeDroppable(output);
  }

  #makeDroppable(output: StepOutput): void {
    if (this.#droppable.has(output)) return;
    this.#droppable.add(output);
    this.#droppableBytes += output.bytes;
  }

  #shed(bytesMax: number): void {
    for (const output of this.#droppable) {
      if (this.#droppableBytes <= bytesMax) return;
      if (this.#pins.has(output)) continue;
      this.#droppable.delete(output);
      this.#droppableBytes -= output.bytes;
      this.#memory.shrink(output.bytes);
      output.drop();
    }
  }
}

/** The next outputs for one query, at least one. */
function takeBatch(outputs: readonly StepOutput[]): StepOutput[] {
  let bytes = 0;
  const end = outputs.findIndex((output, index) => {
    bytes += output.bytes;
    return index > 0 && (bytes > READ_BYTES_MAX || index >= READ_MAX);
  });
  return outputs.slice(0, end === -1 ? outputs.length : end);
}
