import { renameSync, statSync } from "node:fs";
import { once } from "node:events";
import { createLogger } from "@workflow/service";
import pino from "pino";
import type { LevelWithSilent, Logger } from "pino";
import { z } from "zod";

const FILE_BYTES_MAX = 50 * 1024 * 1024;
const REPEATS_HIDDEN_MS = 10_000;
const REPEATS_REMEMBERED_MAX = 100;
/** A line begins with its level. */
const SEVERE = /^\{"level":"(error|fatal)"/;

const LOG_LINE = /^\{"level":".*\}$/;

const severeLine = z.looseObject({
  service: z.string(),
  /** The process, where a service has several. */
  process: z.string().optional(),
  msg: z.string().default(""),
  err: z.looseObject({ message: z.string() }).optional(),
});

export interface ServiceLogOptions {
  file: string;
  level: LevelWithSilent;
  /** Shows a line to the person at the terminal. */
  show: (text: string) => void;
}

/** The log of all services: a file, whose errors are shown as well. */
export interface ServiceLog {
  loggerOf(service: string): Logger;
  /** Takes a line that a service's process has written. */
  take(process: string, line: string): void;
  /** Writes what is buffered. */
  close(): Promise<void>;
}

/**
 * Opens the log file, which keeps the terminal readable. At 50 MB it becomes `<file>.1`, replacing the one before.
 * The same error is shown at most once in 10 s.
 */
export function openServiceLog({ file, level, show }: ServiceLogOptions): ServiceLog {
  const stream = pino.destination({ dest: file, mkdir: true, append: true, sync: false });
  // A full disk must not end the process.
  stream.on("error", () => {});
  let bytes = sizeOf(file);
  const shownAt = new Map<string, number>();

  function write(line: string): void {
    stream.write(line);
    bytes += Buffer.byteLength(line);
    if (bytes > FILE_BYTES_MAX) rotate();
    if (SEVERE.test(line)) showOnce(describe(line));
  }

  function rotate(): void {
    bytes = 0;
    renameSync(file, `${file}.1`);
    stream.reopen();
  }

  function showOnce(text: string): void {
    const now = Date.now();
    if (now - (shownAt.get(text) ?? 0) < REPEATS_HIDDEN_MS) return;
    if (shownAt.size >= REPEATS_REMEMBERED_MAX) shownAt.clear();
    shownAt.set(text, now);
    show(`${text} (see ${file})`);
  }

  const destination = { write };
  const loggerOf = (name: string): Logger => createLogger({ name, level, destination });
  return {
    loggerOf,
    take(process, line) {
      if (LOG_LINE.test(line)) write(`${line.slice(0, -1)},"process":"${process}"}\n`);
      // Lines that Node or a library prints have no level.
      else if (line !== "") loggerOf(process).warn(line);
    },
    async close() {
      const closed = once(stream, "close");
      stream.end();
      await closed;
    },
  };
}

function describe(line: string): string {
  const { service, process = service, msg, err } = severeLine.parse(JSON.parse(line));
  return `${process}: ${err === undefined ? msg : `${msg}: ${err.message}`}`;
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
