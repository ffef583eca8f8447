import { readFileSync } from "node:fs";

/** The content of a JSON file, to be parsed into something narrower. */
export function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, "utf8"));
}
