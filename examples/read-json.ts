import { readFile } from "node:fs/promises";

/** What a JSON file of an example holds. The caller says what that is; files of the example are not checked. */
export async function readJson<Content>(file: URL): Promise<Content> {
  return JSON.parse(await readFile(file, "utf8"));
}
