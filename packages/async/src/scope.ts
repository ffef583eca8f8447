import { loop } from "./loop.ts";
import type { Loop, LoopOptions } from "./loop.ts";

/**
 * Resources that must be closed again, in the reverse order of their opening. So a service that fails
 * during its start leaves nothing open.
 */
export interface Scope extends AsyncDisposable {
  /** Takes charge of a resource and returns it. */
  adopt<Resource>(
    resource: Resource,
    close: (resource: Resource) => Promise<void> | void,
  ): Resource;
  /** Runs this when the scope closes. */
  defer(close: () => Promise<void> | void): void;
  /**
   * Takes charge of work that goes on until its signal is aborted. The scope aborts it when it closes, and waits
   * for its end.
   */
  background(work: (signal: AbortSignal) => Promise<unknown>): void;
  /** Repeats a task in the background; see `loop`. */
  loop(options: Omit<LoopOptions, "signal">): Loop;
  /** Runs a part of a start. When it fails, the scope is closed before the error is thrown on. */
  guard<Result>(start: () => Promise<Result>): Promise<Result>;
  /**
   * Closes everything, the last one first; only the first call has an effect. When one close fails, all
   * the others are still closed. When several fail the error is a SuppressedError.
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
      // An error of the work is thrown when the scope closes, and not reported before.
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
