import { loop } from "./loop.ts";
import type { Loop, LoopOptions } from "./loop.ts";

/**
 * Owns resources and closes them in the reverse order of their opening. So a service that fails during
 * its start leaves nothing open.
 */
export interface Scope extends AsyncDisposable {
  /** Takes ownership of a resource and returns it. */
  adopt<Resource>(
    resource: Resource,
    close: (resource: Resource) => Promise<void> | void,
  ): Resource;
  /** Runs `close` when the scope closes. */
  defer(close: () => Promise<void> | void): void;
  /**
   * Runs work in the background until its signal is aborted. The scope aborts the signal when it
   * closes, and waits for the end of the work.
   */
  background(work: (signal: AbortSignal) => Promise<unknown>): void;
  /** Repeats a task in the background; see `loop`. */
  loop(options: Omit<LoopOptions, "signal">): Loop;
  /** Runs a part of a start. After an error the scope is closed, and the error is thrown again. */
  guard<Result>(start: () => Promise<Result>): Promise<Result>;
  /**
   * Closes all resources, the last one first; only the first call has an effect. A failing close does
   * not prevent the others. Several failures become one SuppressedError.
   */
  close(): Promise<void>;
}

/** An empty scope. */
export function createScope(): Scope {
  const stack = new AsyncDisposableStack();
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= stack.disposeAsync();
    return closed;
  };
  return {
    adopt: (resource, closeResource) =>
      stack.adopt(resource, async (adopted) => closeResource(adopted)),
    defer: (closeIt) => stack.defer(async () => closeIt()),
    background(work) {
      const stopping = new AbortController();
      const ended = work(stopping.signal);
      // An error of the work is thrown when the scope closes, and must not count as unhandled before.
      ended.catch(() => {});
      stack.defer(async () => {
        stopping.abort();
        await ended;
      });
    },
    loop(options) {
      const stopping = new AbortController();
      const started = loop({ ...options, signal: stopping.signal });
      stack.defer(async () => {
        stopping.abort();
        await started.done;
      });
      return started;
    },
    close,
    [Symbol.asyncDispose]: close,
    async guard(start) {
      try {
        return await start();
      } catch (error) {
        await close();
        throw error;
      }
    },
  };
}
