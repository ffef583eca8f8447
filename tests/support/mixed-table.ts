import { expect } from "@jest/globals";
import { z } from "zod";
import type { Answer } from "./api-client.ts";
import { rowsOf } from "./tables.ts";
import type { WholeSystem } from "./whole-system.ts";

const violations = z.array(z.object({ path: z.array(z.string()), message: z.string() }));

const COLUMNS = [
  { id: "n", name: "Name", type: "text" },
  { id: "amount", name: "Amount", type: "number" },
  { id: "ok", name: "Ok", type: "boolean" },
  { id: "day", name: "Day", type: "date" },
  { id: "state", name: "State", type: "select", options: ["open", "late", "done"] },
  { id: "web", name: "Web", type: "url" },
  { id: "mail", name: "Mail", type: "email" },
  { id: "doc", name: "Doc", type: "json" },
  { id: "a/b c?%", name: "Odd", type: "text" },
  { id: "__proto__", name: "Proto", type: "text" },
  { id: "any", name: "Any", type: "text" },
];

/** The rows; their names in `n` are what tests compare. */
const ROWS = [
  '{"n":"Ada","amount":10,"ok":true,"day":"2024-01-31","state":"done","doc":{"b":1,"a":[2]}}',
  '{"n":"Bob","amount":-2.5,"ok":false,"day":"2024-02-29","state":"open","mail":"bob@x.example"}',
  '{"n":"Cid","amount":"10","ok":"true","day":"2024-02-30","state":"gone","doc":{"a":[2],"b":1}}',
  '{"n":"Eve","amount":null,"day":"","state":null,"web":"https://eve.example","extra":"Hidden"}',
  '{"n":"fay 100%_\\\\","amount":10,"ok":false,"day":"2023-12-31","state":"late","a/b c?%":"x"}',
  '{"n":"GUS","amount":0,"ok":true,"__proto__":"secret","any":"thing","extra":5}',
];

/** A table with every type of column, in which rows fit their types, misfit, or are blank. */
export async function makeMixedTable(system: WholeSystem): Promise<string> {
  const raw = `{"name":"T","columns":${JSON.stringify(COLUMNS)},"rows":[${ROWS.join(",")}]}`;
  const made = await system.call("POST", "/tables/import", { raw });
  expect(made.error).toBeUndefined();
  return z.looseObject({ id: z.string() }).parse(made.data).id;
}

/** The rows of a page, by the first letters of their names. */
export function namesOf(answer: Answer): string[] {
  return rowsOf(answer).map(({ data }) => String(data["n"]).slice(0, 3));
}

/** A clause of a filter; some operators take no value. */
export function condition(operator: string, value?: unknown) {
  return { condition: value === undefined ? { operator } : { operator, value } };
}

/** The problems in the answer to a refused request. */
export function problemsOf(answer: Answer): z.output<typeof violations> {
  expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
  return violations.parse(answer.error?.details);
}

/** Expects a refusal that names this part of the request. */
export function expectBad(answer: Answer, ...path: string[]): void {
  const paths = problemsOf(answer).map((each) => each.path.join("/"));
  expect(paths.some((each) => each.startsWith(path.join("/")))).toBe(true);
}

/** A query string. */
export function encode(params: Record<string, string>): string {
  return new URLSearchParams(params).toString();
}
