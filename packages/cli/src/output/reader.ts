import { EXIT } from "../exit-codes.ts";

let changes = 0;
let hasLeft = false;

/**
 * Does what must not stop half-way because nobody reads what is said of it: `workflows push | head -1` sends all files.
 * When it fails the command goes on to its end, and to the exit code that says so.
 */
export async function withoutReader<T>(work: () => Promise<T>): Promise<T> {
  changes += 1;
  const result = await work();
  changes -= 1;
  if (hasLeft) endWithoutReader();
  return result;
}

/** Ends the program quietly, now that nobody reads what it writes; once changes under way are made. */
export function endWithoutReader(): void {
  hasLeft = true;
  if (changes === 0) process.exit(EXIT.ok);
}
