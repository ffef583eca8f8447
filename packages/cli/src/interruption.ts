const controller = new AbortController();
/** How long a command may take to say what it has done. */
const FAREWELL_MS = 5_000;
/** Requests that change something and have no answer yet. */
let changes = 0;

/** Aborted when the person presses Ctrl-C, or the command is told to end. */
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

/** Sends a change, which is let come to its end, so that nobody has to wonder what became of it. */
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
