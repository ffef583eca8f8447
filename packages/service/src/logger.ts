import pino from "pino";
import type { ChildLoggerOptions, DestinationStream, LevelWithSilent, Logger } from "pino";
import { describeError } from "./describe-error.ts";

const REDACTED_NAMES = new Set(["authorization", "x-api-key", "cookie", "set-cookie"]);
/** The names at the top of a logged object and two levels below, such as `request.headers`. */
const REDACTED_LEVELS = 3;

export interface LoggerOptions {
  /** The service that writes the lines, as `service` in each. */
  name: string;
  level: LevelWithSilent;
  /** Receives the lines instead of stdout. */
  destination?: DestinationStream;
}

/** A logger that writes one JSON object a line, with credentials in headers left out. */
export function createLogger({ name, level, destination }: LoggerOptions): Logger {
  const options = {
    level,
    base: { service: name },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {
      level: (label: string) => ({ level: label }),
      log: (fields: Record<string, unknown>) => withoutCredentials(fields, REDACTED_LEVELS),
    },
    serializers: { err: describeError },
  };
  const logger = destination === undefined ? pino(options) : pino(options, destination);
  return withCleanChildren(logger);
}

/** The fields of a child logger are checked once; pino's formatters do not see them. */
function withCleanChildren(logger: Logger): Logger {
  const makeChild = logger.child.bind(logger);
  const child = (fields: object, childOptions?: ChildLoggerOptions): Logger =>
    withCleanChildren(makeChild(withoutCredentials(fields, REDACTED_LEVELS), childOptions));
  return Object.assign(logger, { child });
}

/**
 * The same object where nothing has to be left out, which is nearly always. pino's own redaction, with
 * wildcards for the levels, took 12 of the 14 µs of a line.
 */
function withoutCredentials<Fields extends object>(fields: Fields, levels: number): Fields {
  let changes: Record<string, unknown> | undefined;
  for (const [name, value] of Object.entries(fields)) {
    const kept = REDACTED_NAMES.has(name) ? "[redacted]" : withoutNested(value, levels - 1);
    if (kept !== value) (changes ??= {})[name] = kept;
  }
  return changes === undefined ? fields : { ...fields, ...changes };
}

function withoutNested(value: unknown, levels: number): unknown {
  if (levels === 0 || typeof value !== "object" || value === null) return value;
  // The serializer of errors picks what is logged of them; bytes have no names.
  if (value instanceof Error || ArrayBuffer.isView(value)) return value;
  if (!Array.isArray(value)) return withoutCredentials(value, levels);
  const items = value.map((item: unknown) => withoutNested(item, levels - 1));
  return items.some((item, place) => item !== value[place]) ? items : value;
}
