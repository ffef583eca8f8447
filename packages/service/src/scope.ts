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
