/** A value that a field can be compared with. */
export type FieldValue = string | number | boolean;

/**
 * The condition under which a field applies or is required. The named field has this value, or one of these;
 * `not` negates that; `and` must hold as well. A missing field equals no value; see `InputRelations`.
 */
export interface FieldCondition {
  readonly field: string;
  readonly value: FieldValue | readonly FieldValue[];
  readonly not?: boolean | undefined;
  readonly and?: FieldCondition | undefined;
}

/**
 * Whether a condition holds for these values. `isUnknown` tells the values with templates, which may become
 * any value. Null where the result depends on one.
 */
export function conditionHolds(
  condition: FieldCondition,
  values: Readonly<Record<string, unknown>>,
  isUnknown: (value: unknown) => boolean = () => false,
): boolean | null {
  const { field, value, not = false, and } = condition;
  const actual = Object.hasOwn(values, field) ? values[field] : undefined;
  const first = isUnknown(actual) ? null : matches(actual, value) !== not;
  const second = and === undefined ? true : conditionHolds(and, values, isUnknown);
  if (first === false || second === false) return false;
  return first === null || second === null ? null : true;
}

function matches(actual: unknown, wanted: FieldCondition["value"]): boolean {
  return typeof wanted === "object" ? wanted.some((value) => value === actual) : wanted === actual;
}

/** A condition in words: `type is "invoice" or "bill" and draft is not true`. */
export function describeCondition({ field, value, not = false, and }: FieldCondition): string {
  const values: readonly FieldValue[] = typeof value === "object" ? value : [value];
  const words = values.map((each) => JSON.stringify(each)).join(" or ");
  const first = `${field} is ${not ? "not " : ""}${words}`;
  return and === undefined ? first : `${first} and ${describeCondition(and)}`;
}
