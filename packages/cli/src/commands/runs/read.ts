import type { Command } from "@commander-js/extra-typings";
import { Option } from "@commander-js/extra-typings";
import { act, examples } from "../../action.ts";
import { count, moment, objectId } from "../../options.ts";
import { fieldLines, showList } from "../../output/list.ts";
import { duration, jsonLines, plain, time } from "../../output/output.ts";
import { findWorkflowId, WORKFLOW_ARGUMENT } from "../workflows/find-workflow.ts";
import { stepLines } from "./step-lines.ts";
import { tailRun } from "./tail-run.ts";

const STATUSES = [
  "active",
  "pending",
  "running",
  "waiting_approval",
  "suspended",
  "completed",
  "failed",
  "cancelled",
  "timeout",
] as const;
const TRIGGERS = ["api", "webhook", "schedule", "manual", "table"] as const;

/** Adds `runs list`. */
export function addList(parent: Command): void {
  parent
    .command("list")
    .description("List runs, the newest first")
    .option("--workflow <workflow>", `only of this: ${WORKFLOW_ARGUMENT}`)
    .addOption(new Option("--status <status>", "only those of this status").choices(STATUSES))
    .addOption(new Option("--trigger <type>", "only those that this started").choices(TRIGGERS))
    .option("--tag <tag>", "only of workflows with this tag")
    .option("--after <moment>", "only those started since: a timestamp, or 15m, 2h, 7d ago", moment)
    .option("--before <moment>", "only those started earlier", moment)
    .option("--limit <n>", "how many at most (50)", count)
    .option("--all", "every one")
    .addHelpText(
      "after",
      examples(
        "workflowctl runs list --status failed --after 24h",
        "workflowctl runs list --all --json",
      ),
    )
    .action(
      act(async ({ out, connect }, options) => {
        const { workflow, status, trigger, tag, after, before, limit, all } = options;
        const client = await connect();
        const list = client.runs.list({
          ...(workflow === undefined ? {} : { workflowId: await findWorkflowId(client, workflow) }),
          status,
          triggerType: trigger,
          tag,
          createdAfter: after,
          createdBefore: before,
          limit: all === true ? 100 : Math.min(limit ?? 50, 100),
        });
        await showList(out, list, {
          options: { limit, all },
          columns: [
            { title: "id", of: ({ id }) => id },
            { title: "status", of: (run) => run.status, paint: (text) => out.status(text) },
            { title: "trigger", of: ({ triggerType }) => triggerType },
            { title: "created", of: ({ createdAt }) => time(createdAt) },
            { title: "took", of: ({ durationMs }) => duration(durationMs) },
            { title: "error", of: ({ error }) => error?.code ?? "" },
          ],
        });
      }),
    );
}

/** Adds `runs get`. */
export function addGet(parent: Command): void {
  parent
    .command("get")
    .description("Show a run with its input, output and steps")
    .argument("<run>", "id of a run", objectId)
    .addHelpText("after", examples("workflowctl runs get run_01kdvwgvx8f6m2k4j8h0g3c5b7"))
    .action(
      act(async ({ out, connect }, id) => {
        const run = await (await connect()).runs.get(id);
        const { error } = run;
        out.show(run, [
          ...fieldLines({
            id: run.id,
            workflow: `${run.workflowId} (version ${run.workflowVersion})`,
            status: out.status(run.status),
            trigger: run.triggerType,
            created: time(run.createdAt),
            took: duration(run.durationMs),
            ...(error === null ? {} : { error: plain(`${error.code}: ${error.message}`) }),
          }),
          "steps:",
          ...run.stepResults.map((step) => `  ${stepLines(out, step)[0] ?? ""}`),
          `input: ${jsonLines(run.input)}`,
          `output: ${jsonLines(run.output)}`,
        ]);
      }),
    );
}

/** Adds `runs tail`. */
export function addTail(parent: Command): void {
  parent
    .command("tail")
    .description("Follow a run to its end, a step a line")
    .argument("<run>", "id of a run", objectId)
    .addHelpText(
      "after",
      `
It shows what has happened already, then each step as it ends. Connections that break are made again. The exit code
is 1 when the run does not complete; Ctrl-C ends the following and not the run. --json writes an event a line.
${examples("workflowctl runs tail run_01kdvwgvx8f6m2k4j8h0g3c5b7")}`,
    )
    .action(act(async (context, id) => tailRun(context, await context.connect(), id)));
}

/** Adds `logs`. */
export function addLogs(program: Command): void {
  program
    .command("logs")
    .description("Show what every step of a run was given, and what it gave")
    .argument("<run>", "id of a run", objectId)
    .option("--step <path>", "only this step, by its id or path, with all that it gave", objectId)
    .option("--failed", "only steps that failed")
    .addHelpText("after", examples("workflowctl logs run_01kdvwgvx8f6m2k4j8h0g3c5b7 --failed"))
    .action(
      act(async ({ out, connect }, id, { step, failed }) => {
        const client = await connect();
        if (step !== undefined) {
          const result = await client.runs.getStep(id, step);
          return out.show(result, stepLines(out, result));
        }
        const logs = await client.runs.getLogs(id);
        const steps = logs.logs.filter(({ status }) => failed !== true || status === "error");
        const { error } = logs;
        out.show({ ...logs, logs: steps }, [
          `run ${logs.runId} ${out.status(logs.status)} ${duration(logs.durationMs)}`,
          ...steps.flatMap((result) => stepLines(out, result)),
          ...(error === null ? [] : [plain(`${error.code}: ${error.message}`)]),
        ]);
      }),
    );
}
