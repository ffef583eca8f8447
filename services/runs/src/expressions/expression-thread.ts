import { parentPort } from "node:worker_threads";
import jsonata from "jsonata";
import { LRUCache } from "lru-cache";
import type { ExpressionRequest, ExpressionResponse } from "./protocol.ts";

/**
 * The thread that evaluates JSONata. It has a thread of its own because an expression may loop for
 * ever or eat all memory; the pool then ends the whole thread.
 */
const compiled = new LRUCache<string, jsonata.Expression>({ max: 500 });

parentPort?.on("message", (requests: readonly ExpressionRequest[]) => {
  void evaluateInOrder(requests);
});

async function evaluateInOrder(requests: readonly ExpressionRequest[]): Promise<void> {
  for (const request of requests) parentPort?.postMessage(await evaluate(request));
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
