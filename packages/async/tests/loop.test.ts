import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import pino from "pino";
import { loop } from "../src/index.ts";
import type { Loop, LoopOptions } from "../src/index.ts";

const HOUR_MS = 3_600_000;
let stop: AbortController;
let loops: Loop[];

beforeEach(() => {
  stop = new AbortController();
  loops = [];
});

afterEach(async () => {
  stop.abort();
  await Promise.all(loops.map(({ done }) => done));
});

describe("a loop", () => {
  it("runs at once and then at its interval", async () => {
    let rounds = 0;
    start({ intervalMs: 5, run: async () => void (rounds += 1) });

    await waitFor(() => rounds >= 3);
  });

  it("runs at once when woken", async () => {
    let rounds = 0;
    const { wake } = start({ intervalMs: HOUR_MS, run: async () => void (rounds += 1) });
    await waitFor(() => rounds === 1);

    wake();

    await waitFor(() => rounds === 2);
  });

  it("runs once more when woken during a round, and never two rounds at a time", async () => {
    let running = 0;
    let mostRunning = 0;
    let rounds = 0;
    const gate = Promise.withResolvers<void>();
    const { wake } = start({
      intervalMs: HOUR_MS,
      run: async () => {
        running += 1;
        mostRunning = Math.max(mostRunning, running);
        if (rounds === 0) await gate.promise;
        rounds += 1;
        running -= 1;
      },
    });
    await waitFor(() => running === 1);

    wake();
    wake();
    gate.resolve();

    await waitFor(() => rounds === 2);
    expect(mostRunning).toBe(1);
  });

  it("goes on without a pause while there is more to do", async () => {
    let left = 50;
    start({
      intervalMs: HOUR_MS,
      run: async () => {
        left -= 1;
        return left > 0 ? "again" : undefined;
      },
    });

    await waitFor(() => left === 0);
  });

  it("pauses for as long as a round says, in place of its interval", async () => {
    let rounds = 0;
    start({
      intervalMs: HOUR_MS,
      run: async () => {
        rounds += 1;
        return 1;
      },
    });

    await waitFor(() => rounds >= 3);
  });

  it("survives a failing round, which it logs", async () => {
    const lines: string[] = [];
    let rounds = 0;
    start({
      intervalMs: 5,
      logger: pino({ level: "error" }, { write: (line) => void lines.push(line) }),
      run: async () => {
        rounds += 1;
        if (rounds === 1) throw new Error("database away");
      },
    });

    await waitFor(() => rounds >= 2);

    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      loop: "test",
      failures: 1,
      err: { message: "database away" },
    });
  });

  it("ends when its signal is aborted, after the running round", async () => {
    const gate = Promise.withResolvers<void>();
    let isEnded = false;
    const { done } = start({
      intervalMs: HOUR_MS,
      run: async (signal) => {
        signal.addEventListener("abort", () => gate.resolve());
        await gate.promise;
        isEnded = true;
        throw new Error("a failure after the end is not reported");
      },
    });

    stop.abort();
    await done;

    expect(isEnded).toBe(true);
  });

  it("ends at once while it pauses", async () => {
    let rounds = 0;
    const { done } = start({ intervalMs: HOUR_MS, run: async () => void (rounds += 1) });
    await waitFor(() => rounds === 1);

    stop.abort();

    await done;
  });
});

function start(options: Pick<LoopOptions, "intervalMs" | "run"> & Partial<LoopOptions>): Loop {
  const logger = pino({ level: "silent" });
  const started = loop({ name: "test", signal: stop.signal, logger, ...options });
  loops.push(started);
  return started;
}
