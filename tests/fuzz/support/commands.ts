import { expect } from "@jest/globals";
import { fc } from "@workflow/testkit/property-test";
import type { Answer } from "../../support/api-client.ts";
import type { DrivenSystem } from "../../support/driven-system.ts";

/** One thing that a client does, and what a model of the service says will come of it. */
export interface Action<Model extends object> {
  /** With its arguments, for the sequence that is shown when it fails. */
  name: string;
  /** Whether the model knows of something to do it to; by default it does. */
  when?: (model: Readonly<Model>) => boolean;
  /** Sends it, compares the answer with what the model predicts, and moves the model on. */
  run: (model: Model, system: DrivenSystem) => Promise<void>;
}

/** The action as fast-check takes it. */
function command<Model extends object>({
  name,
  when = () => true,
  run,
}: Action<Model>): fc.AsyncCommand<Model, DrivenSystem> {
  return { check: when, run, toString: () => name };
}

/** Sends a request as acme and expects a status, and of a refusal its code; the answer. */
export async function send(
  system: DrivenSystem,
  request: readonly [method: string, path: string, body?: unknown],
  expected: readonly [status: number, code?: string],
): Promise<Answer> {
  const [method, path, body] = request;
  const answer = await system.call(method, path, { body });
  const got = [answer.status, answer.error?.code];
  expect({ [`${method} ${path}`]: got, body: answer.text.slice(0, 500) }).toMatchObject({
    [`${method} ${path}`]: [expected[0], expected[1]],
  });
  return answer;
}

/** Does sequences of actions, each with a fresh model, until one is not answered as the model says. */
export async function checkSequences<Model extends object>(
  system: DrivenSystem,
  actions: fc.Arbitrary<Action<Model>>[],
  {
    setUp,
    numRuns,
    maxCommands,
  }: {
    setUp: () => Model | Promise<Model>;
    numRuns: number;
    maxCommands: number;
  },
): Promise<void> {
  const commands = fc.commands(
    actions.map((action) => action.map(command)),
    { maxCommands },
  );
  const property = fc.asyncProperty(commands, (sequence) =>
    fc.asyncModelRun(async () => ({ model: await setUp(), real: system }), sequence),
  );
  await fc.assert(property, { numRuns });
}
