import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

let source: string | undefined;

/** The text of an evaluator's program, JSONata included; it imports no module and reads no file. */
export function evaluatorSource(): string {
  source ??= [
    // It sets the global variable `jsonata`, as there is neither `module` nor `exports`.
    createRequire(import.meta.url).resolve("jsonata/jsonata.min.js"),
    new URL("./program/evaluator.js", import.meta.url),
  ]
    .map((file) => readFileSync(file, "utf8"))
    .join("\n;\n");
  return source;
}
