/**
 * End-to-end files that cannot run against separate processes, and why. The runner prints and counts them; a
 * file that is not listed here is run.
 */
export const IN_PROCESS_ONLY: Readonly<Record<string, string>> = {
  "audit-outage": "starts a gateway and a workflows service around a bus of its own that fails",
};
