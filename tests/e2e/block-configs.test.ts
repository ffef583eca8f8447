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
  /** How the words for it begin; any where it is left out. */
  says?: string;
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
  const unseen: string[] = [];
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
      .array(z.looseObject({ path: z.array(z.string()), message: z.string() }))
      .parse(answer.error?.details)
      .map(({ path, message }) => `${path.slice(0, 4).join(".")}: ${message}`);
    const missed = some.filter(
      ({ key, says = "" }, index) =>
        !places.some((place) => place.startsWith(`steps.${index}.config.${key}: ${says}`)),
    );
    unseen.push(...missed.map(({ action, key, says = "" }) => `${action}: ${key} ${says}`.trim()));
  }
  return unseen;
}

/** The same for a call whose templates have their values. */
function unnoticedAtTheStep(variants: readonly Variant[]): string[] {
  return variants
    .filter(({ manifest, config, key, says = "" }) =>
      checkInputs(manifest, config).every(
        ({ path, message }) => path[0] !== key || !message.startsWith(says),
      ),
    )
    .map(({ action, key }) => `${action}: ${key}`);
}

/** A value that no schema of such an input takes. */
function wrongValue({ type }: ActionInput): unknown {
  return { string: [[]], number: "many", boolean: "yes", array: { a: 1 }, file: "x", json: true }[
    type
  ];
}

/** Some value, which is there; whether it is a good one does not matter to other inputs. */
function someValue({ type }: ActionInput): unknown {
  return { string: "x", number: 1, boolean: true, array: ["x"], file: ["x"], json: { a: "x" } }[
    type
  ];
}

/** A variant for each relation of one kind; the inputs that a relation names are given, or they aren't. */
function relatedVariants(
  relation: "requiredWithout" | "notWith" | "onlyWith",
  says: string,
): Variant[] {
  return PROVIDERS.flatMap(({ id, actions }) =>
    actions.flatMap((manifest) => {
      const byKey = new Map(inputsOf(manifest).map((input) => [input.key, input]));
      return [...byKey.values()].flatMap((input) => {
        const { key } = input;
        const others = [input[relation] ?? []].flat();
        const given = relation === "notWith" ? others : [];
        const sets = given.length === 0 && others.length > 0 ? [[]] : given.map((one) => [one]);
        return sets.map((there) => {
          const config: Record<string, unknown> = { ...manifest.example };
          for (const one of [key, ...others]) delete config[one];
          for (const one of relation === "requiredWithout" ? [] : [key, ...there]) {
            const field = byKey.get(one);
            if (field !== undefined) config[one] = someValue(field);
          }
          return { action: `${id}.${manifest.name}`, manifest, config, key, says };
        });
      });
    }),
  );
}

describe("what inputs of actions are to others is enforced in a workflow", () => {
  it("by what is needed without them, when the step runs too", async () => {
    const variants = relatedVariants("requiredWithout", "is required, since ");
    expect(variants.length).toBeGreaterThan(10);
    expect(await unnoticed(variants)).toEqual([]);
    expect(unnoticedAtTheStep(variants)).toEqual([]);
  });

  it("by what they exclude, when the step runs too", async () => {
    const variants = relatedVariants("notWith", "must not be given together with ");
    expect(variants.length).toBeGreaterThan(5);
    expect(await unnoticed(variants)).toEqual([]);
    expect(unnoticedAtTheStep(variants)).toEqual([]);
  });

  it("by what has an effect with them only", async () => {
    const variants = relatedVariants("onlyWith", "must only be given together with ");
    expect(variants.length).toBeGreaterThan(5);
    expect(await unnoticed(variants)).toEqual([]);
  });
});

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
