import { AppError, invalidRequest } from "@workflow/errors";
import type { Violation } from "@workflow/errors";
import { isJsonProblem, scanJsonObject } from "@workflow/json";
import type { JsonMembers } from "@workflow/json";
import { explainIssue, toViolations } from "../../errors/violations.ts";
import { decodeUtf8, jsonRejection } from "../../http/json-body.ts";
import { findLongList, listPlacesOf } from "../../http/long-lists.ts";
import { createTableRequest } from "../tables/table-fields.ts";
import { inBatches, PROBLEMS_MAX, ROWS_MAX } from "./import-plan.ts";
import type { ImportPlan } from "./import-plan.ts";
import { importFields } from "./import-fields.ts";

/** The rows are never parsed. */
const checkedFields = importFields.omit({ rows: true });
const LISTS = listPlacesOf(checkedFields);

/** The limit of each member but the rows; larger ones are refused without parsing. */
const MEMBER_CHARS_MAX = 1024 * 1024;

const OPEN_OBJECT = 0x7b;

/**
 * Reads the body of a JSON import: its syntax, its fields, and the positions of its rows. Rows are
 * passed on as the text that was sent, without parsing.
 *
 * @throws AppError BAD_REQUEST with every problem
 */
export function readJsonImport(bytes: Uint8Array): ImportPlan {
  const text = decodeUtf8(bytes);
  const rows = new RowSpans();
  const members = scanJsonObject(text, {
    member: "rows",
    onArray: () => rows.clear(),
    onElement: ({ start, end }) => rows.add(text, start, end),
  });
  if (isJsonProblem(members)) throw jsonRejection(text, members);
  const { fields, violations } = parseFields(members);
  violations.push(...rowProblems(members.get("rows"), rows));
  if (violations.length > 0 || fields === undefined) throw invalidRequest(violations);
  const table = createTableRequest(fields, (member) => members.get(member));
  return { table, batches: inBatches(rows.texts(text)), lines: null };
}

function parseFields(members: JsonMembers) {
  const violations: Violation[] = [];
  const given: Record<string, unknown> = {};
  for (const name of Object.keys(checkedFields.shape)) {
    const member = members.get(name);
    if (member === undefined) continue;
    if (member.length > MEMBER_CHARS_MAX) {
      const message = `must have at most ${MEMBER_CHARS_MAX} characters`;
      throw new AppError("PAYLOAD_TOO_LARGE", `${name} ${message}.`);
    }
    given[name] = JSON.parse(member);
  }
  const longList = findLongList(given, LISTS);
  if (longList !== null) throw invalidRequest([longList]);
  const checked = checkedFields.safeParse(given, { error: explainIssue });
  if (!checked.success) violations.push(...toViolations(checked.error));
  return { fields: checked.data, violations };
}

function rowProblems(member: string | undefined, rows: RowSpans): Violation[] {
  if (member === undefined) return [{ path: ["rows"], message: "is required" }];
  if (!member.startsWith("[")) return [{ path: ["rows"], message: "must be an array" }];
  if (rows.count > ROWS_MAX) {
    const message = `must be at most ${ROWS_MAX} rows, more than which no table may have`;
    return [{ path: ["rows"], message }];
  }
  return rows.notObjects.map((index) => ({
    path: ["rows", String(index)],
    message: "must be an object",
  }));
}

/** The positions of rows in a text: two numbers a row, as there may be very many short ones. */
class RowSpans {
  count = 0;
  /** The indices of the first elements that are no objects. */
  notObjects: number[] = [];
  readonly #bounds = new Uint32Array(2 * ROWS_MAX);

  clear(): void {
    this.count = 0;
    this.notObjects = [];
  }

  add(text: string, start: number, end: number): void {
    if (text.charCodeAt(start) !== OPEN_OBJECT && this.notObjects.length < PROBLEMS_MAX) {
      this.notObjects.push(this.count);
    }
    // A typed array ignores writes beyond its end; such a file is refused.
    this.#bounds[2 * this.count] = start;
    this.#bounds[2 * this.count + 1] = end;
    this.count += 1;
  }

  *texts(text: string): Generator<string> {
    for (let index = 0; index < this.count; index += 1) {
      yield text.slice(this.#bounds[2 * index], this.#bounds[2 * index + 1]);
    }
  }
}
