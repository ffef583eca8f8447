import { EXIT } from "../exit-codes.ts";

let changes = 0;
let hasLeft = false;

/**
 * Finishes work although nobody reads the output: `workflows push | head -1` still sends all files. After a failure
 * the command goes on to its end and its exit code.
 */
export async function withoutReader<T>(work: () => Promise<T>): Promise<T> {
  changes += 1;
  const result = await work();
  changes -= 1;
  if (hasLeft) endWithoutReader();
  return result;
}

/**
 * Ends the program quietly because its output has no reader. Changes under way are finished first.
 */
export function endWithoutReader(): void {
  hasLeft = true;
  if (changes === 0) process.exit(EXIT.ok);
}
