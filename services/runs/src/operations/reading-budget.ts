import type { StepBounds, StepRow } from "../store/read-steps.ts";

const MIB = 1024 * 1024;

/** Bytes of step results' inputs and outputs in one answer, and as many of their notes (D56). */
export const READING_BOUNDS: StepBounds = { documentsMax: 8 * MIB, notesMax: 8 * MIB };

/**
 * The bytes left in an answer that is read piece by piece. The first result that does not fit ends the
 * answer, even if later ones were smaller. So the reader gets a gapless beginning.
 */
export class ReadingBudget {
  readonly #pieceMax: number;
  #left: StepBounds = READING_BOUNDS;

  /** @param pieceMax the most bytes of documents, and of notes, that one piece should hold */
  constructor(pieceMax: number) {
    this.#pieceMax = pieceMax;
  }

  /** The bytes left in the answer. */
  get left(): StepBounds {
    return this.#left;
  }

  /** The bytes that the next piece may hold. */
  get nextPiece(): StepBounds {
    return {
      documentsMax: Math.min(this.#left.documentsMax, this.#pieceMax),
      notesMax: Math.min(this.#left.notesMax, this.#pieceMax),
    };
  }

  /**
   * Charges results that were read within bounds. It stops at the first result that did not fit into the
   * piece but fits into the rest of the answer: that one and all after it are to be read again.
   *
   * @returns the charged results
   */
  charge(rows: readonly StepRow[], bounds: StepBounds): readonly StepRow[] {
    const isPiece = {
      documents: bounds.documentsMax < this.#left.documentsMax,
      notes: bounds.notesMax < this.#left.notesMax,
    };
    const end = rows.findIndex(
      (row) => (isPiece.documents && !row.documentsFit) || (isPiece.notes && !row.notesFit),
    );
    const charged = end === -1 ? rows : rows.slice(0, end);
    let { documentsMax, notesMax } = this.#left;
    for (const row of charged) {
      documentsMax = row.documentsFit ? documentsMax - row.inputBytes - row.outputBytes : 0;
      notesMax = row.notesFit ? notesMax - row.noteBytes : 0;
    }
    this.#left = { documentsMax, notesMax };
    return charged;
  }
}
