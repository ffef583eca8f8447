import { flushCompileCache } from "node:module";
import type { Logger } from "pino";
import { ConfigError } from "./config-error.ts";
import { createLogger } from "./logger.ts";
import { explainSettingsWithoutEffect } from "./settings-without-effect.ts";

const STOP_TIMEOUT_MS = 10_000;
/** The time after a successful stop for which open handles may keep the process alive. */
const LINGER_MS = 2_000;
const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** A service that runs. */
export interface Running {
  stop(): Promise<void>;
}

export interface RunMainOptions {
  logger?: Logger;
  /** The time limit of `stop` (default 10 s). */
  stopTimeoutMs?: number;
}

/**
 * Runs a service as a process: starts it, logs the start, and stops it on SIGINT or SIGTERM. The log
 * begins with a warning for each setting that has no effect yet. With NODE_COMPILE_CACHE, the cache is
 * written before the start. The signal of `start` is aborted when the process is asked to stop, even
 * during the start. The exit code is 0 after a stop in time, and 1 when the start failed or the stop
 * did not end. A second signal ends the process at once.
 */
export async function runMain(
  name: string,
  start: (signal: AbortSignal) => Promise<Running>,
  options: RunMainOptions = {},
): Promise<void> {
  const { logger = createLogger({ name, level: "info" }), stopTimeoutMs = STOP_TIMEOUT_MS } =
    options;
  process.on("uncaughtExceptionMonitor", (error) => {
    logger.fatal({ err: error }, "uncaught error");
  });
  const stopRequest = new AbortController();
  const stopRequested = onFirstSignal((signal) => {
    logger.info({ signal }, "stopping");
    stopRequest.abort();
  });

  // Without this call Node writes the cache at the end, when /livez no longer answers. That may take
  // longer than a supervisor waits.
  flushCompileCache();
  for (const line of explainSettingsWithoutEffect(process.env)) logger.warn(line);
  let running: Running | undefined;
  // A start may wait for ever and ignore the signal.
  const isOver = (): boolean => running !== undefined || process.exitCode !== undefined;
  void stopRequested.then(() => endLate(isOver, stopTimeoutMs, logger));
  try {
    running = await start(stopRequest.signal);
  } catch (error) {
    if (stopRequest.signal.aborted) return end(logger, 0);
    if (error instanceof ConfigError) logger.fatal(error.message);
    else logger.fatal({ err: error }, "the start failed");
    return end(logger, 1);
  }
  if (!stopRequest.signal.aborted) logger.info("ready");
  await stopRequested;
  const hasStopped = await stopInTime(running, stopTimeoutMs, logger);
  return end(logger, hasStopped ? 0 : 1);
}

/** Ends the process when its start has not ended after the signal. */
function endLate(isOver: () => boolean, timeoutMs: number, logger: Logger): void {
  setTimeout(() => {
    if (isOver()) return;
    logger.error({ timeoutMs }, "the start took too long to give up");
    process.exit(1);
  }, timeoutMs).unref();
}

/** Later signals find no handler, so the system's default applies: the process ends. */
function onFirstSignal(handle: (signal: NodeJS.Signals) => void): Promise<void> {
  return new Promise((resolve) => {
    const onSignal = (signal: NodeJS.Signals): void => {
      for (const each of SIGNALS) process.off(each, onSignal);
      handle(signal);
      resolve();
    };
    for (const each of SIGNALS) process.on(each, onSignal);
  });
}

async function stopInTime(running: Running, timeoutMs: number, logger: Logger): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), timeoutMs);
  });
  try {
    const outcome = await Promise.race([running.stop(), timeout]);
    if (outcome === "late") {
      logger.error({ timeoutMs }, "the stop took too long");
      process.exit(1);
    }
    return true;
  } catch (error) {
    logger.error({ err: error }, "the stop failed");
    return false;
  } finally {
    clearTimeout(timer);
  }
}

/** Lets the process end by itself, so that buffered output is written, with a time limit. */
function end(logger: Logger, exitCode: number): void {
  process.exitCode = exitCode;
  setTimeout(() => {
    logger.warn("something was left open; ending the process");
    process.exit();
  }, LINGER_MS).unref();
}
