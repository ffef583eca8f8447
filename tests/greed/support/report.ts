import type { Circumstances } from "../../../bench/machine.ts";
import type { Form } from "./greed-case.ts";
import type { Finding } from "./session.ts";

const P95_MS_MAX = 1_000;
const MEMORY_MIB_MAX = 1_200;

/** `pass`, or what a case has missed. */
export function verdictOf({ ended, failures, greedy, peaks }: Finding): string {
  const missed = [
    ended ? null : "did not end",
    failures.length === 0 ? null : "canary failed",
    greedy.readP95 <= P95_MS_MAX ? null : "reads",
    greedy.runP95 <= P95_MS_MAX ? null : "runs",
    peaks.service <= MEMORY_MIB_MAX ? null : "memory",
  ].filter((each) => each !== null);
  return missed.length === 0 ? "pass" : missed.join(", ");
}

/** The report as Markdown. */
export function formatReport(
  { startedAt, commit, cpu, cores, node, loadBefore, hasUncommittedChanges }: Circumstances,
  form: Form,
  findings: readonly Finding[],
): string {
  const head = ["case", "reads p95 (max)", "runs p95 (max)", "idle reads, runs p95"];
  const memory = ["service MiB", "expressions MiB", "Postgres MiB"];
  const rows = findings.map((finding) => {
    const { id, idle, greedy, peaks } = finding;
    return [
      id,
      `${ms(greedy.readP95)} (${ms(greedy.readMax)})`,
      `${ms(greedy.runP95)} (${ms(greedy.runMax)})`,
      `${ms(idle.readP95)}, ${ms(idle.runP95)}`,
      ...[peaks.service, peaks.children, peaks.postgres].map((mib) => mib.toFixed(0)),
      verdictOf(finding),
    ];
  });
  return [
    `# Greedy tenants, ${startedAt.slice(0, 10)}, commit ${commit}${hasUncommittedChanges ? " with uncommitted changes" : ""}`,
    "",
    `${form === "full" ? "Full form" : "**Short form: it says that the cases work, not how the system does**"}; ${cpu}, ${cores} cores, Node ${node}, load average before the start ${loadBefore.map((load) => load.toFixed(1)).join(", ")}.`,
    "",
    "Milliseconds that a canary company waited for its reads and its synchronous runs of one step while another company was greedy; at most 1,000 at p95. Memory is the peak of what is resident: at most 1,200 MiB of the service's process; its expression processes and Postgres are shown beside it.",
    "",
    ...table([...head, ...memory, ""], rows),
    "",
    ...findings.map(
      ({ id, title, outcome, failures }) =>
        `- **${id}**, ${title}: ${outcome}${failures.length === 0 ? "" : `; the canary: ${failures.join("; ")}`}`,
    ),
    "",
  ].join("\n");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)];
}

function ms(value: number): string {
  return Number.isNaN(value) ? "–" : Math.round(value).toLocaleString("en-US");
}
