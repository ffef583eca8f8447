import { describe, expect, it } from "@jest/globals";
import {
  checkInputs,
  findProvider,
  findProviderAction,
  inputsOf,
  placeholdersOf,
  PROVIDERS,
} from "../src/index.ts";
import type { ActionInput, FieldCondition } from "../src/index.ts";

/** Frequent mistakes of new manifests; each message names the provider and the place. */
describe.each(PROVIDERS)("the manifest of $id", (provider) => {
  const inputs = provider.actions.flatMap((action) =>
    inputsOf(action).map((input) => ({ place: `${action.name}.${input.key}`, input })),
  );

  it("is found by its id, which fits into routes and settings", () => {
    expect(findProvider(provider.id)).toBe(provider);
    expect(provider.id).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
    expect(provider.category).toMatch(/^[a-z]+(?:-[a-z]+)*$/);
    expect(provider.description).toMatch(/\.$/);
  });

  it("has actions with names of their own, each found by its id", () => {
    for (const action of provider.actions) {
      expect(action.name).toMatch(/^[a-z][A-Za-z0-9]*$/);
      expect(findProviderAction(`${provider.id}.${action.name}`)?.action).toBe(action);
      expect(action.description).toMatch(/\.$/);
      expect(new Set(action.outputs).size).toBe(action.outputs.length);
    }
  });

  it("cites the provider's reference, for each action too", () => {
    for (const docs of [provider.docs, ...provider.actions.map((action) => action.docs)]) {
      expect(docs).toMatch(/^https:\/\/[^\s]+$/);
    }
  });

  it("has no input of a name that is taken, and none twice in an action", () => {
    expect(inputs.filter(({ input }) => TAKEN.has(input.key)).map(({ place }) => place)).toEqual(
      [],
    );
    for (const action of provider.actions) {
      const keys = inputsOf(action).map(({ key }) => key);
      expect({ [action.name]: keys }).toEqual({ [action.name]: [...new Set(keys)] });
    }
  });

  it("gives a key one type in all actions", () => {
    const types = Map.groupBy(inputs, ({ input }) => input.key);
    const several = [...types.values()].filter(
      (same) => new Set(same.map(({ input }) => input.type)).size > 1,
    );
    expect(
      several.map((same) => same.map(({ place, input }) => `${place}: ${input.type}`)),
    ).toEqual([]);
  });

  it("has conditions about inputs of the same action, and options that they have", () => {
    for (const action of provider.actions) {
      const all = inputsOf(action);
      const wrong = all.flatMap((input) =>
        conditionsOf(input).flatMap((condition) => wrongCondition(condition, input, all)),
      );
      expect({ [action.name]: wrong }).toEqual({ [action.name]: [] });
    }
  });

  it("relates inputs to other inputs of the same action, which are optional", () => {
    for (const action of provider.actions) {
      const all = inputsOf(action);
      const wrong = all.flatMap(({ key, requiredWithout = [], notWith = [], onlyWith }) =>
        [...requiredWithout, ...notWith, ...(onlyWith === undefined ? [] : [onlyWith])].filter(
          (other) =>
            other === key || !all.some((input) => input.key === other && input.required !== true),
        ),
      );
      expect({ [action.name]: wrong }).toEqual({ [action.name]: [] });
    }
  });

  it("has renamed keys that no action has any more, for inputs that it has", () => {
    const keys = new Set(inputs.map(({ input }) => input.key));
    for (const action of provider.actions) {
      for (const [key, successor] of Object.entries(action.renamed ?? {})) {
        expect(keys).not.toContain(key);
        expect(action.inputs.map((input) => input.key)).toContain(successor);
      }
    }
  });

  it("refuses an empty list where one is needed, at its path", () => {
    for (const action of provider.actions) {
      const needed = inputsOf(action).filter(
        ({ key, type, required }) =>
          (type === "array" || type === "file" || Array.isArray(action.example[key])) &&
          required === true,
      );
      for (const { key } of needed) {
        const problems = checkInputs(action, { ...action.example, [key]: [] });
        expect({ [action.name]: problems.map(({ path }) => path) }).toEqual({
          [action.name]: expect.arrayContaining([[key]]),
        });
      }
    }
  });

  it("says of each input in a path that it is needed, unless the connection has a value", () => {
    const known = provider.auth.kind === "apiKey" ? provider.auth.fields.map(({ key }) => key) : [];
    for (const action of provider.actions) {
      const inPath = new Set(placeholdersOf(action.request.path));
      const optional = action.inputs.filter(
        ({ key, required, visibleWhen }) =>
          inPath.has(key) &&
          !known.includes(key) &&
          (required !== true || visibleWhen !== undefined),
      );
      expect({ [action.name]: optional.map(({ key }) => key) }).toEqual({ [action.name]: [] });
    }
  });
});

/** The least number of a provider's actions (D37). */
const ACTIONS_MIN: Readonly<Record<string, number>> = {
  stripe: 12,
  salesforce: 10,
  hubspot: 10,
  quickbooks: 10,
  docusign: 6,
  netsuite: 6,
  slack: 8,
  "google-mail": 6,
  rillet: 6,
  resend: 4,
  sendgrid: 4,
  airwallex: 8,
  odoo: 8,
  avalara: 6,
  plaid: 4,
  github: 6,
};

it("every provider has the actions that it was added for", () => {
  const wanted = Object.entries(ACTIONS_MIN).map(([id, count]) => ({ id, count }));
  const short = wanted.filter(({ id, count }) => (findProvider(id)?.actions.length ?? 0) < count);
  expect(short).toEqual([]);
  const acting = PROVIDERS.filter(({ actions }) => actions.length > 0);
  expect(acting.map(({ id }) => id).toSorted()).toEqual(Object.keys(ACTIONS_MIN).toSorted());
});

/** The keys that steps and blocks reserve. */
const TAKEN: ReadonlySet<string> = new Set(["action", "connectionId"]);

function conditionsOf({ visibleWhen, requiredWhen }: ActionInput): FieldCondition[] {
  return [...partsOf(visibleWhen), ...partsOf(requiredWhen)];
}

function partsOf(condition: FieldCondition | undefined): FieldCondition[] {
  return condition === undefined ? [] : [condition, ...partsOf(condition.and)];
}

function wrongCondition(
  { field, value }: FieldCondition,
  { key }: ActionInput,
  all: readonly ActionInput[],
): string[] {
  const named = all.find((input) => input.key === field);
  if (named === undefined || field === key) return [`${key}: no other input ${field}`];
  const ids = named.options?.map(({ id }) => id);
  const values = [value].flat();
  // A client decides itself what a missing field means.
  if (values.includes("")) return [`${key}: compares ${field} with nothing`];
  const unknown = values.filter((one) => ids?.includes(String(one)) === false);
  return unknown.map((one) => `${key}: ${field} has no option ${String(one)}`);
}
