/** What this package needs of a logger; pino's loggers fit. */
export interface EventsLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
