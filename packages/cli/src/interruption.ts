const controller = new AbortController();
/** How long a command may take to say what it has done. */
const FAREWELL_MS = 5_000;

/** Aborted when the person presses Ctrl-C, or the command is told to end. */
export const interruption: AbortSignal = controller.signal;

/** Listens for Ctrl-C. The second one ends the program at once. */
export function listenForInterruption(): void {
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.once(name, () => {
      controller.abort(new Error("Interrupted."));
      setTimeout(() => process.exit(130), FAREWELL_MS).unref();
    });
  }
}

/** Waits; ends early, without an error, when the command is interrupted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}
