import { UsageError } from "./usage-error.ts";

const BYTES_MAX = 4_096;

/**
 * Reads the first line of stdin, without its end.
 * @param flag the flag that gets the value
 * @throws UsageError when there is nothing, or too much
 */
export async function readStdinLine(flag: string): Promise<string> {
  if (process.stdin.isTTY) process.stderr.write(`--${flag}: `);
  const chunks: Buffer[] = [];
  let byteCount = 0;
  for await (const chunk of process.stdin) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    byteCount += bytes.length;
    if (byteCount > BYTES_MAX) throw new UsageError(`--${flag}-stdin takes ${BYTES_MAX} bytes`);
    if (bytes.includes("\n")) break;
  }
  const [line = ""] = Buffer.concat(chunks).toString("utf8").split(/\r?\n/);
  if (line === "") throw new UsageError(`stdin has no text for --${flag}`);
  return line;
}
