import { setImmediate } from "node:timers/promises";
import { Shares, Turns } from "@workflow/async";
import { compileJsonSchema, countSchemaParts, DEFINITION_LIMITS } from "@workflow/definition";
import { AppError } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { parseJsonText } from "@workflow/json";
import { OUTPUT_SCHEMA_BYTES_MAX } from "./limits.ts";

/** The limit of one company's schemas that are checked or wait. */
const COMPANY_MAX = 32;
const RETRY_AFTER_MS = 1_000;
const PARTS_MAX = DEFINITION_LIMITS.jsonSchemaPartsEachMax;

/**
 * Checks the schemas of agents, one at a time; companies take turns (D57). Compiling a schema of 400
 * parts blocks the event loop for some 40 ms.
 */
export class SchemaChecks {
  readonly #turns = new Turns({ perTenant: 1, total: 1 });
  readonly #requests = new Shares({ perTenant: COMPANY_MAX, total: Infinity });

  /**
   * The problems of an output schema, at paths that begin with `outputSchema`; none for null and
   * undefined.
   *
   * @throws AppError RATE_LIMITED when too many schemas of the company wait; the signal's reason when
   * it was aborted first
   */
  async check(
    companyId: string,
    json: string | null | undefined,
    signal: AbortSignal,
  ): Promise<readonly Violation[]> {
    if (json === null || json === undefined) return [];
    const leave = this.#requests.take(companyId);
    if (leave === null) throw tooManyChecks();
    try {
      const end = await this.#turns.take(companyId, signal);
      try {
        return problemsOf(json);
      } finally {
        // The event loop serves other calls before the next check.
        await setImmediate();
        end();
      }
    } finally {
      leave();
    }
  }
}

function tooManyChecks(): AppError {
  return new AppError("RATE_LIMITED", "The company has too many schemas checked at a time.", {
    details: { limit: "agentSchemas" },
    retryAfterMs: RETRY_AFTER_MS,
  });
}

function problemsOf(json: string): Violation[] {
  if (Buffer.byteLength(json) > OUTPUT_SCHEMA_BYTES_MAX) {
    return [problem(`must have at most ${OUTPUT_SCHEMA_BYTES_MAX / 1024} KiB`)];
  }
  const parsed = parseJsonText(json, "object");
  if (!parsed.ok) return [problem(parsed.message)];
  if (countSchemaParts(parsed.value) > PARTS_MAX) {
    return [
      problem(
        `must have at most ${PARTS_MAX} objects, arrays and booleans outside enum, const, default and examples`,
      ),
    ];
  }
  const compiled = compileJsonSchema(parsed.value);
  if (compiled.ok) return [];
  return compiled.violations.map(({ path, message }) => ({
    path: ["outputSchema", ...path],
    message,
  }));
}

function problem(message: string): Violation {
  return { path: ["outputSchema"], message };
}
