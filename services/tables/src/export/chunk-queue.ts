import { AppError } from "@workflow/errors";

/**
 * Hands chunks from one source to one reader. The source may be ahead of the reader by a limited number of bytes.
 */
export class ChunkQueue implements AsyncIterable<Buffer> {
  readonly #bytesMax: number;
  readonly #stallMs: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #end: { error?: unknown } | null = null;
  #isLeft = false;
  #wakeReader: () => void = () => {};
  #wakeSource: () => void = () => {};

  /**
   * @param bytesMax the most bytes that may wait for the reader
   * @param stallMs the milliseconds that the source waits for a reader who takes nothing
   */
  constructor({ bytesMax, stallMs }: { bytesMax: number; stallMs: number }) {
    this.#bytesMax = bytesMax;
    this.#stallMs = stallMs;
  }

  /**
   * Adds a chunk, and waits while too much is there already.
   *
   * @throws AppError UNAVAILABLE when the reader has left, or takes nothing for too long
   */
  async push(chunk: Buffer): Promise<void> {
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
    this.#wakeReader();
    while (this.#bytes > this.#bytesMax && !this.#isLeft) await this.#waitForReader();
    if (this.#isLeft) throw new AppError("UNAVAILABLE", "Nobody reads the export any more.");
  }

  /** Ends the source, because all chunks were pushed or because of an error. */
  end(outcome: { error?: unknown } = {}): void {
    this.#end ??= outcome;
    this.#wakeReader();
  }

  /** Reads the chunks. A reader who leaves early makes the source's next `push` throw. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, undefined> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) {
          this.#bytes -= chunk.byteLength;
          this.#wakeSource();
          yield chunk;
        } else if (this.#end === null) {
          await new Promise<void>((resolve) => (this.#wakeReader = resolve));
        } else {
          if ("error" in this.#end) throw this.#end.error;
          return;
        }
      }
    } finally {
      this.leave();
    }
  }

  /** The reader has left. */
  leave(): void {
    this.#isLeft = true;
    this.#wakeSource();
    this.end();
  }

  async #waitForReader(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#wakeSource = resolve;
    const timer = setTimeout(() => {
      reject(new AppError("UNAVAILABLE", "The export was read too slowly."));
    }, this.#stallMs);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }
}
