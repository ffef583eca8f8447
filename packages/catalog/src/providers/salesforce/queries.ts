import { z } from "zod";
import { choice, list, number, text } from "../../action-input.ts";
import { LIST_LIMITS } from "../../pages.ts";
import type { ActionManifest, Paging } from "../../provider-manifest.ts";
import {
  fieldInput,
  fieldPath,
  fieldsInput,
  givenText,
  whereInput,
} from "../../query-conditions.ts";
import { API, DOCS, objectName, sobject } from "./inputs.ts";
import { SOQL_OPERATORS, writeSoql } from "./soql.ts";

/** The next page is a path behind the instance's URL; the last has none. */
const paging: Paging = {
  items: "records",
  member: "records",
  next: { kind: "url", from: "nextRecordsUrl" },
};

const strings = z.array(z.string());

function limitOf(inputs: Readonly<Record<string, unknown>>): number {
  return Number(inputs["limit"] ?? LIST_LIMITS.default);
}

export const findRecords: ActionManifest = {
  name: "findRecords",
  title: "Find records",
  description: "Finds records of an object by the values of their fields.",
  docs: `${DOCS}/dome_query.htm`,
  inputs: [
    sobject,
    fieldsInput("fields", { description: "Id, Name, Owner.Name", required: true }),
    whereInput(SOQL_OPERATORS),
    fieldInput("orderBy", { title: "Sort by" }),
    choice("direction", ["ASC", "DESC"], { in: "none" }),
  ],
  outputs: ["records", "hasMore"],
  request: {
    method: "GET",
    path: `${API}/query`,
    build: ({ parts, inputs }) => {
      const q = writeSoql({
        sobject: String(inputs["sobject"]),
        fields: strings.parse(inputs["fields"]),
        where: inputs["where"],
        orderBy: givenText(inputs["orderBy"]),
        direction: givenText(inputs["direction"]),
        // One item over the limit tells if there are more.
        limit: limitOf(inputs) + 1,
      });
      return { ...parts, query: { ...parts.query, q } };
    },
  },
  paging,
  readOnly: true,
  example: {
    sobject: "Opportunity",
    fields: ["Id", "Name", "Amount"],
    where: [
      { field: "StageName", operator: "=", value: "Closed Won" },
      { field: "CloseDate", operator: ">=", value: "LAST_N_DAYS:30", type: "date" },
    ],
  },
};

export const query: ActionManifest = {
  name: "query",
  title: "Run a SOQL query",
  description:
    "Runs a query of your own. Values of templates belong into Find records, which quotes them.",
  docs: `${DOCS}/resources_query.htm`,
  inputs: [
    text("q", {
      title: "SOQL",
      control: "long-input",
      schema: z.string().max(16_000),
      required: true,
    }),
  ],
  outputs: ["records", "hasMore"],
  request: {
    method: "GET",
    path: `${API}/query`,
    // Salesforce's pages have 200 to 2,000 records, by default 2,000.
    build: ({ parts, inputs }) => ({
      ...parts,
      headers: {
        ...parts.headers,
        "sforce-query-options": `batchSize=${Math.max(200, limitOf(inputs))}`,
      },
    }),
  },
  paging,
  readOnly: true,
  example: { q: "SELECT Id, Name FROM Account WHERE Industry = 'Energy'" },
};

/**
 * Salesforce refuses fields without an object, so fields belong to their object. The raw `where` is left out,
 * since a template's value could change the search.
 */
const searchedObject = z.strictObject({
  name: objectName,
  fields: z.array(fieldPath).min(1).optional(),
  limit: z.int().min(1).max(2_000).optional(),
});

export const search: ActionManifest = {
  name: "search",
  title: "Search",
  description: "Looks for words in all fields of several objects.",
  docs: `${DOCS}/resources_search_parameterized_post.htm`,
  inputs: [
    text("q", { title: "Words", schema: z.string().min(2).max(10_000), required: true }),
    list("sobjects", {
      title: "Objects",
      description:
        '{name, fields?, limit?} each: {name: "Contact", fields: ["Id", "Email"]}; by default all objects, with their ids only',
      of: searchedObject,
    }),
    choice("in", ["ALL", "NAME", "EMAIL", "PHONE", "SIDEBAR"], { title: "Fields to search in" }),
    number("overallLimit", {
      title: "Limit",
      description: "How many records at most; 100 by default",
      schema: z.int().min(1).max(2_000),
    }),
  ],
  outputs: ["searchRecords"],
  request: {
    method: "POST",
    path: `${API}/parameterizedSearch`,
    build: ({ parts, inputs }) => {
      const body = { overallLimit: LIST_LIMITS.default, ...Object(parts.body) };
      if (Array.isArray(inputs["sobjects"]) && inputs["sobjects"].length === 0)
        delete body.sobjects;
      return { ...parts, body };
    },
  },
  readOnly: true,
  example: {
    q: "Acme",
    sobjects: [{ name: "Account", fields: ["Id", "Name"] }, { name: "Contact" }],
  },
};
