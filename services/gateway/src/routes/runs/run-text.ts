import type { Run } from "@workflow/proto/runs/v1/run";
import type { ReadRunResponse } from "@workflow/proto/runs/v1/runs";
import { writeJson } from "../../http/write-json.ts";
import type { Writable } from "../../http/write-json.ts";
import { stepResultJson } from "./run-json.ts";

/**
 * The time that a client may take for a whole run; meanwhile it occupies its company's share of
 * memory.
 */
export const READ_TIMEOUT_MS = 120_000;

/**
 * A run as JSON text in pieces: the members of `head`, then the list of step results under a given
 * name.
 */
export async function* runText(
  pieces: AsyncIterable<ReadRunResponse>,
  head: (run: Run) => { [key: string]: Writable },
  listName: string,
): AsyncGenerator<string> {
  let separator: string | null = null;
  for await (const { part } of pieces) {
    if (part?.$case === "run") {
      const text = writeJson(head(part.value));
      separator = "";
      yield `${text.slice(0, -1)},${JSON.stringify(listName)}:[`;
    } else if (part?.$case === "steps" && separator !== null) {
      const text = part.value.results.map((result) => stepResultJson(result).text).join(",");
      if (text === "") continue;
      yield separator + text;
      separator = ",";
    }
  }
  if (separator === null) throw new Error("A run was read without the run itself.");
  yield "]}";
}
