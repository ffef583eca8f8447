import type { StepBounds, StepRow } from "../store/read-steps.ts";

const MIB = 1024 * 1024;

/** What one answer holds of inputs and outputs of step results, and as much again of their notes (D56). */
export const READING_BOUNDS: StepBounds = { documentsMax: 8 * MIB, notesMax: 8 * MIB };

/**
 * What is left of the bounds of an answer that is read piece by piece. A result that does not fit any
 * more ends what is told: none after it is told either, however small, so that what a reader has is a
 * whole beginning.
 */
export class ReadingBudget {
  readonly #pieceMax: number;
  #left: StepBounds = READING_BOUNDS;

  /** @param pieceMax bytes of documents, and of notes, that one piece should hold at most */
  constructor(pieceMax: number) {
    this.#pieceMax = pieceMax;
  }

  /** All that is left. */
  get left(): StepBounds {
    return this.#left;
  }

  /** What the next piece may hold. */
  get nextPiece(): StepBounds {
    return {
      documentsMax: Math.min(this.#left.documentsMax, this.#pieceMax),
      notesMax: Math.min(this.#left.notesMax, this.#pieceMax),
    };
  }

  /**
   * Charges results that were read within bounds, up to the first that did not fit into the piece but
   * does into what is left: that one and those behind it are to be read once more.
   *
   * @returns those that were charged
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
