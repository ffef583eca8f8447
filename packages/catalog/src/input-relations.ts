import { oneOf } from "./issue-words.ts";

/**
 * What an input has to do with whether others are given. The contract's conditions compare with values, so
 * none of them can say that a field is absent: descriptions do, and validation.
 */
export interface InputRelations {
  /** Needed when none of these is given. */
  readonly requiredWithout?: readonly string[] | undefined;
  /** Refused beside any of these; where their values come from templates, when the step runs. */
  readonly notWith?: readonly string[] | undefined;
  /** Of no effect when this one is not given: refused in a definition, left out when the step runs. */
  readonly onlyWith?: string | undefined;
}

/** Whether an input is given: yes, no, or null where a template decides. */
export type IsGiven = (key: string) => boolean | null;

/** What is wrong with an input because of others that are given or not; undefined while nothing is. */
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

/** Whether an input has no effect, since the one that it belongs to is not given for certain. */
export function lacksPartner({ onlyWith }: InputRelations, isGiven: IsGiven): boolean {
  return onlyWith !== undefined && isGiven(onlyWith) === false;
}

/** The relations in words, as a description ends: "needed unless html is given". */
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
