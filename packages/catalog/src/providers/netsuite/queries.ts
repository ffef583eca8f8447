import { z } from "zod";
import { choice, text } from "../../action-input.ts";
import type { ActionManifest, Paging } from "../../provider-manifest.ts";
import {
  fieldInput,
  fieldsInput,
  givenText,
  whereInput,
  writeConditions,
} from "../../query-conditions.ts";
import type { QueryLiterals } from "../../query-conditions.ts";
import { DOCS } from "./inputs.ts";

const OPERATORS = ["=", "!=", "<", "<=", ">", ">=", "LIKE", "IN", "NOT IN"] as const;

const PATH = "/services/rest/query/v1/suiteql";

/** SuiteQL requires the header that asks NetSuite to keep no result. */
const headers = { prefer: "transient" };

function quote(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

const literals: QueryLiterals = {
  text: quote,
  number: String,
  boolean: (value) => (value ? "'T'" : "'F'"),
  nulls: "IS",
  date: (value) => {
    const [, day, time] = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d))?$/.exec(value) ?? [];
    if (day === undefined) return null;
    return time === undefined
      ? `TO_DATE(${quote(day)}, 'YYYY-MM-DD')`
      : `TO_DATE(${quote(`${day} ${time}`)}, 'YYYY-MM-DD HH24:MI:SS')`;
  },
};

/** Each page names the address of the next one, whose host is checked before credentials are sent. */
const paging: Paging = {
  items: "items",
  member: "items",
  in: "query",
  size: { param: "limit", max: 1_000 },
  next: { kind: "url", from: "links.rel=next.href" },
};

export const runSuiteQL: ActionManifest = {
  name: "runSuiteQL",
  title: "Run a SuiteQL query",
  description:
    "Runs a query of your own. Values of templates belong into Find records, which quotes them.",
  docs: `${DOCS}/section_157909186990.html`,
  inputs: [
    text("q", {
      title: "SuiteQL",
      description: "Sorted by something unique, or pages may overlap",
      control: "long-input",
      schema: z.string().max(100_000),
      required: true,
    }),
  ],
  outputs: ["items", "hasMore"],
  request: { method: "POST", path: PATH, headers },
  paging,
  readOnly: true,
  example: { q: "SELECT id, companyname, email FROM customer ORDER BY id" },
};

export const findRecords: ActionManifest = {
  name: "findRecords",
  title: "Find records",
  description: "Finds records by the values of their fields, sorted by internal id unless you say.",
  docs: `${DOCS}/section_157909186990.html`,
  inputs: [
    fieldInput("from", { title: "Table", description: "customer, transaction", required: true }),
    fieldsInput("columns", {
      description: "Names of columns from the records catalog",
      required: true,
    }),
    whereInput(OPERATORS),
    fieldInput("orderBy", { title: "Sort by" }),
    choice("direction", ["ASC", "DESC"], { in: "none" }),
  ],
  outputs: ["items", "hasMore"],
  request: {
    method: "POST",
    path: PATH,
    headers,
    build: ({ parts, inputs }) => {
      const conditions = writeConditions(inputs["where"], literals);
      const orderBy = givenText(inputs["orderBy"]) ?? "id";
      const direction = givenText(inputs["direction"]) ?? "ASC";
      const q = [
        `SELECT ${z.array(z.string()).parse(inputs["columns"]).join(", ")}`,
        `FROM ${String(inputs["from"])}`,
        ...(conditions === "" ? [] : [`WHERE ${conditions}`]),
        `ORDER BY ${orderBy} ${direction}`,
      ].join(" ");
      return { ...parts, body: { q } };
    },
  },
  paging,
  readOnly: true,
  example: {
    from: "transaction",
    columns: ["id", "tranid", "trandate", "entity"],
    where: [
      { field: "type", operator: "=", value: "CustInvc" },
      { field: "trandate", operator: ">=", value: "2026-11-01", type: "date" },
    ],
  },
};
