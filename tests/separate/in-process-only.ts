/**
 * End-to-end files that cannot run against separate processes, and why. The runner prints and counts them; a
 * file that is not listed here is run.
 */
export const IN_PROCESS_ONLY: Readonly<Record<string, string>> = {
  "audit-outage": "gives the services a bus of its own, which fails when the test says so",
  "company-limits":
    "judges limits that hold in each runs process for itself; two of them let more through",
  "adding-many-members":
    "judges the room of one gateway; two of them together let more additions of one company wait",
  "webhook-endpoint-test-limits":
    "judges limits that hold in each webhooks process for itself; two of them let more through",
  "authorization-troubles":
    "shortens the time that a provider's answer is waited for, which no setting says",
  "connect-page": "shortens the time that a provider's answer is waited for, which no setting says",
  "gone-table-readers":
    "counts what one tables process has given up, in the metrics of the test's own process",
  "webhook-endpoint-hearing":
    "has ends of runs compared with events five times a second, which no setting says",
};
