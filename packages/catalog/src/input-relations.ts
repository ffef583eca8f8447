import { oneOf } from "./issue-words.ts";

/**
 * The relations of an input to the presence of others. The contract's conditions compare values, so they
 * cannot express that a field is absent. Descriptions and validation do.
 */
export interface InputRelations {
  /** The input is required when none of these is given. */
  readonly requiredWithout?: readonly string[] | undefined;
  /** The input is refused beside any of these. Values from templates are checked at execution. */
  readonly notWith?: readonly string[] | undefined;
  /** The input has no effect without this one. A definition with it is refused, and execution ignores it. */
  readonly onlyWith?: string | undefined;
}

/** Whether an input is given. Null where a template decides. */
export type IsGiven = (key: string) => boolean | null;

/** The problem of an input beside given or missing others; undefined without a problem. */
export function relationProblem(
  { key, requiredWithout, notWith }: { readonly key: string } & InputRelations,
  isGiven: IsGiven,
): string | undefined {
  const given = isGiven(key);
  if (given === false) {
    if (requiredWithout?.every((other) => isGiven(other) === false) !== true) return undefined;
    return `is required, since ${oneOf(requiredWithout, "and")} ${areOrIs(requiredWithout)} not given`;
  }
  if (given === null) return undefined;
  const excluding = notWith?.filter((other) => isGiven(other) === true) ?? [];
  if (excluding.length === 0) return undefined;
  return `must not be given together with ${oneOf(excluding, "and")}`;
}

/** Whether an input certainly has no effect, because the input that it belongs to is absent. */
export function lacksPartner({ onlyWith }: InputRelations, isGiven: IsGiven): boolean {
  return onlyWith !== undefined && isGiven(onlyWith) === false;
}

/** The relations in words, for the end of a description: "needed unless html is given". */
export function describeRelations({ requiredWithout, notWith, onlyWith }: InputRelations): string {
  const words = [
    requiredWithout && `needed unless ${oneOf(requiredWithout, "or")} is given`,
    notWith && `not together with ${oneOf(notWith, "or")}`,
    onlyWith !== undefined && `only with ${onlyWith}`,
  ];
  return words.filter((each) => typeof each === "string").join(", ");
}

function areOrIs(keys: readonly string[]): string {
  return keys.length > 1 ? "are" : "is";
}
