import { randomUUID } from "node:crypto";
import { close, openSync, readv, unlinkSync, writev } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { crc32 } from "node:zlib";
import { Extents } from "./extents.ts";
import type { Extent } from "./extents.ts";

/** The place on disk for columns that do not fit into memory. */
export interface SpillPlace {
  /** A directory on a disk of this machine. */
  readonly directory: string;
  /** The most bytes there. */
  readonly bytesMax: number;
  /**
   * The fewest rows of a table that is saved; 1,000 by default. Smaller tables are read from the database again.
   */
  readonly rowsMin?: number | undefined;
}

/** A reference to stored pieces, with their checksum. */
export interface Stored {
  readonly extent: Extent;
  /** The lengths of the pieces, in their order. */
  readonly lengths: readonly number[];
  readonly checksum: number;
}

/**
 * Makes the directory when it is missing, and tries it.
 * @throws Error that names the setting when the directory cannot be used
 */
export async function prepareSpill({ directory, bytesMax }: SpillPlace): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const file = SpillFile.open(directory, bytesMax);
    await file.close();
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const message = `TABLES_SPILL_DIR: the directory ${directory} cannot be used (${why}).`;
    throw new Error(message, { cause });
  }
}

/**
 * A file without a name, which disappears with its process however that ends. Nobody else can open it. Only the
 * process's own user could, in the moment before its name was removed.
 */
export class SpillFile {
  readonly #file: number;
  readonly #extents: Extents;

  private constructor(file: number, bytesMax: number) {
    this.#file = file;
    this.#extents = new Extents(bytesMax);
  }

  /**
   * Opens a file.
   * @param directory has to exist
   * @throws Error of the file system
   */
  static open(directory: string, bytesMax: number): SpillFile {
    const path = join(directory, `columns-${randomUUID()}`);
    // At once: a thread that is told to end between two steps would leave the file behind, open or with its name.
    const file = openSync(path, "wx+", 0o600);
    unlinkSync(path);
    return new SpillFile(file, bytesMax);
  }

  /**
   * Writes pieces; null when no free part of the file is large enough.
   * @throws Error of the file system
   */
  async write(pieces: readonly Buffer[]): Promise<Stored | null> {
    const lengths = pieces.map(({ length }) => length);
    const bytes = lengths.reduce((sum, length) => sum + length, 0);
    const extent = this.#extents.take(bytes);
    if (extent === null) return null;
    try {
      const { bytesWritten } = await writePieces(this.#file, pieces, extent.offset);
      if (bytesWritten !== bytes) {
        throw new Error("The disk has taken only a part of what was written.");
      }
    } catch (error) {
      this.#extents.give(extent);
      throw error;
    }
    return { extent, lengths, checksum: checksumOf(pieces) };
  }

  /**
   * Reads pieces.
   * @throws Error of the file system, or when the bytes differ from those that were written
   */
  async read({ extent, lengths, checksum }: Stored): Promise<Buffer[]> {
    // Each piece has memory of its own, so that a value made of one does not keep the others.
    const pieces = lengths.map((length) => Buffer.allocUnsafeSlow(length));
    let { offset } = extent;
    for (let from = 0; from < pieces.length; from += PIECES_AT_ONCE) {
      const { bytesRead } = await readPieces(
        this.#file,
        pieces.slice(from, from + PIECES_AT_ONCE),
        offset,
      );
      offset += bytesRead;
    }
    if (checksumOf(pieces) !== checksum) throw new Error("The disk has not kept what was written.");
    return pieces;
  }

  /** Releases the room of pieces. Nobody may be reading them. */
  free({ extent }: Stored): void {
    this.#extents.give(extent);
  }

  async close(): Promise<void> {
    await closeFile(this.#file);
  }
}

const [writePieces, readPieces, closeFile] = [
  promisify(writev),
  promisify(readv),
  promisify(close),
];
/** Systems read into at most 1,024 pieces at once. */
const PIECES_AT_ONCE = 512;

function checksumOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, piece) => crc32(piece, sum), 0);
}
