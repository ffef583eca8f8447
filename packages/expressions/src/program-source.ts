import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

let source: string | undefined;

/** The text of the evaluator program, JSONata included. It imports no module and reads no file. */
export function evaluatorSource(): string {
  source ??= [
    // Without `module` and `exports`, the script sets the global variable `jsonata`.
    createRequire(import.meta.url).resolve("jsonata/jsonata.min.js"),
    new URL("./program/evaluator.js", import.meta.url),
  ]
    .map((file) => readFileSync(file, "utf8"))
    .join("\n;\n");
  return source;
}
