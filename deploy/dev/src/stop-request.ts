/** The signals that request a stop: Ctrl-C, `kill`, and a closed terminal. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** On Ctrl-C both the terminal and npm send a signal. Signals so close together count as one. */
const ECHO_MS = 300;

/** Longer than services take to finish what is under way. */
const STOP_TIMEOUT_MS = 30_000;

/** The exit code of an interrupted process, as in shells. */
const INTERRUPTED = 130;

/**
 * Returns a signal that is aborted when the process is asked to stop. A second request, or a stop that takes too
 * long, ends the process at once.
 */
export function onStopRequest(): AbortSignal {
  const request = new AbortController();
  let requestedAt = 0;
  const onSignal = (): void => {
    if (!request.signal.aborted) {
      requestedAt = performance.now();
      request.abort();
      setTimeout(() => process.exit(1), STOP_TIMEOUT_MS).unref();
    } else if (performance.now() - requestedAt > ECHO_MS) {
      process.exit(INTERRUPTED);
    }
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return request.signal;
}

/** Resolves when the signal is aborted. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
