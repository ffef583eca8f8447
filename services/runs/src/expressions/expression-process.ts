import { Worker } from "node:worker_threads";
import jsonata from "jsonata";
import { LRUCache } from "lru-cache";
import type { ExpressionRequest, ExpressionResponse } from "./protocol.ts";

/*
 * The process that evaluates JSONata. It is one of its own because an expression may loop for ever,
 * or ask for so much memory that V8 ends the whole process, which a thread's limits do not prevent.
 */

const compiled = new LRUCache<string, jsonata.Expression>({ max: 500 });

process.on("message", (requests: readonly ExpressionRequest[]) => {
  void evaluateInOrder(requests);
});
process.on("disconnect", () => process.exit());
endWithParent();
process.send?.("ready");

async function evaluateInOrder(requests: readonly ExpressionRequest[]): Promise<void> {
  for (const request of requests) {
    const response = await evaluate(request);
    // Once sent: the next expression may be this process's last.
    await new Promise((resolve) => process.send?.(response, resolve));
  }
}

async function evaluate(request: ExpressionRequest): Promise<ExpressionResponse> {
  try {
    let expression = compiled.get(request.expression);
    if (expression === undefined) {
      expression = jsonata(request.expression);
      compiled.set(request.expression, expression);
    }
    const result: unknown = await expression.evaluate(JSON.parse(request.input));
    // JSONata's `undefined` (nothing matched) is JSON's null; functions have no JSON form.
    const output = JSON.stringify(result) ?? "null";
    if (output.length > request.outputCharsMax) {
      return failure(request, "OUTPUT_TOO_LARGE", "The result of the expression is too large.");
    }
    return { id: request.id, ok: true, output };
  } catch (error) {
    return failure(request, "EXPRESSION_FAILED", messageOf(error));
  }
}

function failure(request: ExpressionRequest, code: string, message: string): ExpressionResponse {
  return { id: request.id, ok: false, code, message };
}

/** JSONata throws plain objects with message, code and position. */
function messageOf(error: unknown): string {
  if (typeof error === "object" && error !== null && "message" in error) {
    const position = "position" in error ? ` (at character ${String(error.position)})` : "";
    return `The expression failed: ${String(error.message).slice(0, 500)}${position}`;
  }
  return "The expression failed.";
}

/** An endless expression keeps the disconnection from being noticed; a thread of its own notices. */
function endWithParent(): void {
  const source = `
    const { ppid } = process;
    setInterval(() => { if (process.ppid !== ppid) process.kill(process.pid, "SIGKILL"); }, 1000);
  `;
  new Worker(source, {
    eval: true,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 8 },
  }).unref();
}
