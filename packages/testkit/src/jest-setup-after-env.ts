import { afterAll } from "@jest/globals";

declare global {
  /** The state of roarr, slonik's logger; absent until that is imported. */
  var ROARR: { teardown?: () => void } | undefined;
}

/**
 * Roarr listens for errors of stdout from its import on, once for each module instance. In Jest every
 * test file has its own modules and global object, but shares the stdout of its worker. Without this
 * hook the listeners would pile up from file to file.
 */
afterAll(() => globalThis.ROARR?.teardown?.());
