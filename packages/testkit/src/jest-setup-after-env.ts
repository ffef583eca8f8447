import { afterAll } from "@jest/globals";

declare global {
  /** The state of roarr, slonik's logger; absent until that is imported. */
  var ROARR: { teardown?: () => void } | undefined;
}

/**
 * Roarr listens for errors of stdout from its import on, which is once a process. In Jest every test
 * file has modules and a global object of its own but shares the stdout of its worker, so without
 * this the listeners add up from file to file.
 */
afterAll(() => globalThis.ROARR?.teardown?.());
