import pino from "pino";
import type { DestinationStream, LevelWithSilent, Logger } from "pino";
import { describeError } from "./describe-error.ts";

const REDACTED_NAMES = ["authorization", "x-api-key", "cookie", "set-cookie"];
/** The names at the top of a logged object and two levels below, such as `request.headers`. */
const REDACTED_PATHS = ["", "*", "*.*"].flatMap((parent) =>
  REDACTED_NAMES.map((name) => `${parent}["${name}"]`),
);

export interface LoggerOptions {
  /** The service that writes the lines, as `service` in each. */
  name: string;
  level: LevelWithSilent;
  /** Where lines go instead of stdout. */
  destination?: DestinationStream;
}

/** A logger that writes one JSON object a line, with credentials in headers left out. */
export function createLogger({ name, level, destination }: LoggerOptions): Logger {
  const options = {
    level,
    base: { service: name },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError },
    redact: { paths: REDACTED_PATHS, censor: "[redacted]" },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
}
