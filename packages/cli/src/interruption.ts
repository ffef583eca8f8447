const controller = new AbortController();
/** How long an interrupted command may take to say what it has done. */
const FAREWELL_MS = 5_000;
/** The number of changes that were sent and have no answer yet. */
let changes = 0;

/** Aborted by Ctrl-C, or when the command is told to end. */
export const interruption: AbortSignal = controller.signal;

/** Listens for Ctrl-C. The second one ends the program at once. */
export function listenForInterruption(): void {
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.once(name, () => {
      if (changes > 0) say("Ending, after what is on its way.");
      controller.abort(new Error("Interrupted."));
      setTimeout(giveUp, FAREWELL_MS).unref();
    });
  }
}

/** Sends a change and waits for its answer even when interrupted, so that its outcome is known. */
export async function asChange<T>(send: () => Promise<T>): Promise<T> {
  changes += 1;
  try {
    return await send();
  } finally {
    changes -= 1;
  }
}

function giveUp(): void {
  if (changes > 0) say("Interrupted. No answer came: look whether the change was made.");
  process.exit(130);
}

function say(text: string): void {
  process.stderr.write(`\n${text}\n`);
}

/** Waits. An interruption ends the wait early, without an error. */
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
