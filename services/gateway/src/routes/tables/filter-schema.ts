import type { oas31 } from "zod-openapi";
import { jsonObject } from "../fields.ts";

/** Every operator of a condition; the type of a column decides which of them it has. */
const OPERATORS = [
  "equals",
  "not_equals",
  "contains",
  "not_contains",
  "starts_with",
  "ends_with",
  "greater_than",
  "greater_than_or_equal",
  "less_than",
  "less_than_or_equal",
  "between",
  "is_empty",
  "is_not_empty",
];

const CLAUSE: oas31.SchemaObject = {
  type: "object",
  description:
    "What is asked of one column. Where there is a condition and a list, both must match. `values` and `excludedValues` exclude each other.",
  additionalProperties: false,
  properties: {
    condition: {
      type: "object",
      required: ["operator"],
      description: "What the value has to be compared with, and how; letters' case does not count.",
      properties: {
        operator: {
          enum: OPERATORS,
          description: "Which of them there are goes by the column's type.",
        },
        value: {
          description:
            "A text, number or boolean as the column has, a day (`between`: `{start, end}`, both included); none for is_empty and is_not_empty.",
        },
      },
    },
    values: {
      type: "array",
      items: {},
      maxItems: 500,
      description: "The value is one of these, to the letter; null stands for blanks.",
    },
    excludedValues: {
      type: "array",
      items: {},
      maxItems: 500,
      description: "The value is none of these.",
    },
  },
};

/**
 * A filter. Any object passes here, because the tables service validates it with the table's
 * columns. The description shows the valid form.
 */
export const filterSchema = jsonObject.meta({
  id: "RowFilter",
  description:
    "Which rows: a clause for each column, by its id, all of which must match. At most 20 clauses, 500 values in a list and 1,000 in all, 2,000 characters a value or condition, 50,000 characters altogether.",
  examples: [
    {
      state: { values: ["open", "late"] },
      amount: { condition: { operator: "greater_than", value: 100 } },
    },
  ],
  override: {
    properties: {
      any: {
        description:
          "An array: rows that match at least one of these filters. Else the clause of the column with this id.",
        anyOf: [{ type: "array", items: { $ref: "#/components/schemas/RowFilter" } }, CLAUSE],
      },
    },
    additionalProperties: CLAUSE,
  },
});
