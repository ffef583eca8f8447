import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { checkInputs, inputsOf, PROVIDERS } from "@workflow/catalog";
import type { ActionInput, ActionManifest } from "@workflow/catalog";
import { z } from "zod";
import { workflowBody } from "../support/scenarios.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

/** Steps of one workflow: an answer lists 50 problems at most, and a step may have more than one. */
const STEPS_MAX = 20;

/** A config of an action, and the key that is wrong with it. */
interface Variant {
  action: string;
  manifest: ActionManifest;
  config: Record<string, unknown>;
  key: string;
}

function variantsOf(
  { id, actions }: (typeof PROVIDERS)[number],
  change: (config: Record<string, unknown>, input: ActionInput) => Record<string, unknown> | null,
): Variant[] {
  return actions.flatMap((manifest) =>
    inputsOf(manifest).flatMap((input) => {
      const config = change({ ...manifest.example }, input);
      const action = `${id}.${manifest.name}`;
      return config === null ? [] : [{ action, manifest, config, key: input.key }];
    }),
  );
}

/** Those whose key is in none of the places that the answer to POST /workflows names. */
async function unnoticed(variants: readonly Variant[]): Promise<string[]> {
  const missing: string[] = [];
  for (let from = 0; from < variants.length; from += STEPS_MAX) {
    const some = variants.slice(from, from + STEPS_MAX);
    const steps = some.map(({ action, config }, index) => ({
      id: `s${index}`,
      type: "action",
      name: action,
      action,
      config,
    }));
    const answer = await system.call("POST", "/workflows", { body: workflowBody({ steps }) });
    expect(answer).toMatchObject({ status: 400, error: { code: "VALIDATION_ERROR" } });
    const places = z
      .array(z.looseObject({ path: z.array(z.string()) }))
      .parse(answer.error?.details)
      .map(({ path }) => path.slice(0, 4).join("."));
    const missed = some.filter(
      ({ key }, index) => !places.includes(`steps.${index}.config.${key}`),
    );
    missing.push(...missed.map(({ action, key }) => `${action}: ${key}`));
  }
  return missing;
}

/** The same for a call whose templates have their values. */
function unnoticedAtTheStep(variants: readonly Variant[]): string[] {
  return variants
    .filter(({ manifest, config, key }) =>
      checkInputs(manifest, config).every(({ path }) => path[0] !== key),
    )
    .map(({ action, key }) => `${action}: ${key}`);
}

/** A value that no schema of such an input takes. */
function wrongValue({ type }: ActionInput): unknown {
  return { string: [[]], number: "many", boolean: "yes", array: { a: 1 }, file: "x", json: true }[
    type
  ];
}

const callable = PROVIDERS.filter(({ actions }) => actions.length > 0);

describe.each(callable)("actions of $id, in a workflow and when the step runs", (provider) => {
  it("name each required input of their example that is taken away", async () => {
    const variants = variantsOf(provider, (config, { key, required }) => {
      if (required !== true || !Object.hasOwn(config, key)) return null;
      const { [key]: _, ...rest } = config;
      return rest;
    });
    expect(variants).not.toEqual([]);
    expect(await unnoticed(variants)).toEqual([]);
    expect(unnoticedAtTheStep(variants)).toEqual([]);
  });

  it("name each input of their example that is of another kind", async () => {
    const variants = variantsOf(provider, (config, input) => {
      const { key, type } = input;
      // Some take any JSON value.
      if (!Object.hasOwn(config, key) || (type === "json" && input.schema.safeParse(true).success))
        return null;
      return { ...config, [key]: wrongValue(input) };
    });
    expect(await unnoticed(variants)).toEqual([]);
    expect(unnoticedAtTheStep(variants)).toEqual([]);
  });
});
