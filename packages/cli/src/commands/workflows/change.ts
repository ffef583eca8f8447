import type { Command } from "@commander-js/extra-typings";
import { InvalidArgumentError } from "@commander-js/extra-typings";
import { act, examples } from "../../action.ts";
import { EXIT } from "../../exit-codes.ts";
import { CliError } from "../../failures.ts";
import { confirm, readObjectArgument } from "../../input.ts";
import { jsonLines, plain, time } from "../../output/output.ts";
import { count } from "../../options.ts";
import { tailRun } from "../runs/tail-run.ts";
import { findWorkflowId, WORKFLOW_ARGUMENT } from "./find-workflow.ts";

/** Adds `workflows activate`. */
export function addActivate(parent: Command): void {
  parent
    .command("activate")
    .description("Activate a workflow, so that it can be run")
    .argument("<workflow>", WORKFLOW_ARGUMENT)
    .action(
      act(async ({ out, connect }, given) => {
        const client = await connect();
        const activated = await client.workflows.activate(await findWorkflowId(client, given));
        const { schedule } = activated;
        out.show(activated, [
          `${activated.id} is ${out.status(activated.status)}.`,
          ...(schedule === undefined ? [] : [`It runs next at ${time(schedule.nextRunAt)}.`]),
        ]);
      }),
    );
}

/** Adds `workflows pause`. */
export function addPause(parent: Command): void {
  parent
    .command("pause")
    .description("Pause an active workflow; nothing starts it until it is activated again")
    .argument("<workflow>", WORKFLOW_ARGUMENT)
    .action(
      act(async ({ out, connect }, given) => {
        const client = await connect();
        const paused = await client.workflows.pause(await findWorkflowId(client, given));
        out.show(paused, [`${paused.id} is ${out.status(paused.status)}.`]);
      }),
    );
}

/** Adds `workflows plan`. */
export function addPlan(parent: Command): void {
  parent
    .command("plan")
    .description("Check a workflow as the server has it, without running anything")
    .argument("<workflow>", WORKFLOW_ARGUMENT)
    .option("--input <json>", "what a run would be given: JSON, @file, or - for standard input")
    .addHelpText(
      "after",
      `\nThe exit code is 1 when a run would not work.\n${examples(
        `workflowctl workflows plan Greeting --input '{"name":"Ada"}'`,
      )}`,
    )
    .action(
      act(async ({ out, connect }, given, { input }) => {
        const body =
          input === undefined ? {} : { input: await readObjectArgument("--input", input) };
        const client = await connect();
        const plan = await client.workflows.plan(await findWorkflowId(client, given), body);
        const missing = Object.entries(plan.missing).filter(([, names]) => names.length > 0);
        out.show(plan, [
          `valid: ${plan.valid ? out.paint("green", "yes") : out.paint("red", "no")}`,
          ...plan.problems.map(
            ({ path, message }) => `problem: ${plain(`${path.join(".")}: ${message}`)}`,
          ),
          ...missing.map(([what, names]) => `missing ${what}: ${plain(names.join(", "))}`),
          ...plan.steps.map(
            (step) => `step: ${plain(`${step.path} (${step.action ?? step.type})`)}`,
          ),
          ...(plan.nextRunAt ?? []).map((next) => `next run: ${time(next)}`),
        ]);
        if (!plan.valid || missing.length > 0) process.exitCode = EXIT.refused;
      }),
    );
}

/** Adds `workflows rollback`. */
export function addRollback(parent: Command): void {
  parent
    .command("rollback")
    .description("Make a new version with the content of an old one")
    .argument("<workflow>", WORKFLOW_ARGUMENT)
    .argument("<version>", "the version to go back to", count)
    .option("--summary <text>", "why, for the list of versions")
    .option("--yes", "do not ask")
    .addHelpText("after", examples("workflowctl workflows rollback Greeting 3 --yes"))
    .action(
      act(async ({ out, connect }, given, version, { summary, yes }) => {
        const client = await connect();
        const id = await findWorkflowId(client, given);
        if (!(await confirm(`Roll ${plain(given)} back to version ${version}?`, yes))) {
          throw new CliError("Nothing was changed.", EXIT.refused);
        }
        const body = summary === undefined ? {} : { changeSummary: summary };
        const workflow = await client.versions.rollback(id, version, body);
        out.show(workflow, [
          `${plain(workflow.name)} is at version ${workflow.version}, with the content of version ${version}.`,
        ]);
      }),
    );
}

/** Adds `workflows run`. */
export function addRun(parent: Command): void {
  parent
    .command("run")
    .description("Start a run of an active workflow")
    .argument("<workflow>", WORKFLOW_ARGUMENT)
    .option("--input <json>", "the run's input: JSON, @file, or - for standard input")
    .option("--wait <seconds>", "wait so long for the end and show the output, 1 to 300", seconds)
    .option("--tail", "follow the run to its end, a step a line")
    .option("--idempotency-key <key>", "the same key within 24 hours starts no second run")
    .option("--connection <id>", "the connection to use where a provider has several")
    .addHelpText(
      "after",
      examples(
        `workflowctl workflows run Greeting --input '{"name":"Ada"}' --tail`,
        "workflowctl workflows run Greeting --input @order.json --wait 30 --json",
      ),
    )
    .action(
      act(async (context, given, { input, wait, tail, idempotencyKey, connection }) => {
        const { out, connect, signal } = context;
        const body = {
          ...(input === undefined ? {} : { input: await readObjectArgument("--input", input) }),
          ...(connection === undefined ? {} : { connectionId: connection }),
          ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
          ...(wait === undefined
            ? {}
            : { mode: "sync" as const, maxExecutionTimeMs: wait * 1_000 }),
        };
        const client = await connect();
        const started = await client.workflows.run(await findWorkflowId(client, given), body, {
          signal,
        });
        if (tail === true) {
          out.note(`run ${started.runId}`);
          return tailRun(context, client, started.runId);
        }
        if (out.isJson) return out.json(started);
        out.line(`run ${started.runId} is ${out.status(started.status)}`);
        if ("output" in started) out.line(jsonLines(started.output));
        else out.note(`Follow it: workflowctl runs tail ${started.runId}`);
      }),
    );
}

function seconds(value: string): number {
  const number = count(value);
  if (number > 300) throw new InvalidArgumentError("It must be 1 to 300.");
  return number;
}
