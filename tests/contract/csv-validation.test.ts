import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { ROUTES } from "@workflow/service-gateway/routes";
import { z } from "zod";
import { readApiDocument } from "../support/api-document.ts";
import { placeIn } from "../support/body-positions.ts";
import { HOSTILE_QUERIES, HOSTILE_VALUES } from "../support/hostile-values.ts";
import { nameOf } from "../support/route-requests.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

/*
 * The matrix of validation for CSV files. Each parameter gets every wrong text, each member of a declared column every
 * wrong value, and each type of column every wrong cell. A refusal names the parameter, the column's member or the
 * line, and leaves no table.
 */

const ROUTE = "POST /tables/import";
const FILE = "a,b\n1,2\n";
/** A declared column with every member. */
const COLUMN = { id: "col_a", name: "a", type: "select", required: true, options: ["x", "y"] };
const violations = z.array(z.object({ path: z.array(z.string()), message: z.string().min(1) }));

/** Texts that are no value of a type. */
const WRONG_CELLS: Readonly<Record<string, readonly string[]>> = {
  number: ["x", "1,5", "0x10", "NaN", "Infinity", "--1", "1 2", "٣", "1e999", "9007199254740993"],
  boolean: ["yes", "1", "0", "True", "tru", "null"],
  date: ["2026-13-01", "2026-02-29", "31.01.2026", "2026-1-1", "0000-01-01", "tomorrow"],
  json: ["{", "undefined", "'a'", "1 2", "[1,]", "NaN", '{"a":1e999}', "[".repeat(70)],
};

/** A request that differs from a good one in one place. */
interface Attack {
  name: string;
  query: string;
  file?: string;
  /** The beginning of the path that a refusal has to name. */
  place: string;
}

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system?.stop());

/** The query of a good request, without a parameter of it. */
function queryWithout(name: string, more: Record<string, string> = {}): string {
  const query = new URLSearchParams({ format: "csv", name: "T", ...more });
  query.delete(name);
  return query.toString();
}

async function send({ query, file = FILE }: Pick<Attack, "query" | "file">) {
  return system.call("POST", `/tables/import?${query}`, {
    raw: file,
    headers: { "content-type": "text/csv" },
  });
}

async function countTables(): Promise<number> {
  return z.array(z.unknown()).parse((await system.call("GET", "/tables?limit=100")).data).length;
}

/** The fault of the answer to an attack; null where it is right. */
async function faultOf(attack: Attack, mayBeTaken: boolean): Promise<string | null> {
  const before = await countTables();
  const { status, data, error } = await send(attack);
  if (status === 201) {
    const { id } = z.looseObject({ id: z.string() }).parse(data);
    expect(await system.call("DELETE", `/tables/${id}`)).toMatchObject({ status: 200 });
    return mayBeTaken ? null : `${attack.name}: taken`;
  }
  if ((await countTables()) !== before) return `${attack.name}: refused, and a table is left`;
  const said = `${attack.name}: ${status} ${JSON.stringify(error).slice(0, 300)}`;
  // An address that is too long, or a folder that does not exist, is no matter of one field.
  if (status === 431 || (status === 404 && attack.place === "folderId")) return null;
  if (status !== 400) return said;
  const paths = violations.safeParse(error?.details).data ?? [];
  const isNamed = paths.some(({ path }) => path.join(".").startsWith(attack.place));
  return isNamed ? null : said;
}

async function faultsOf(attacks: readonly Attack[], mayBeTaken: boolean): Promise<string[]> {
  expect(attacks).not.toEqual([]);
  const faults: string[] = [];
  for (const attack of attacks) faults.push(...[(await faultOf(attack, mayBeTaken)) ?? []].flat());
  return faults;
}

describe("the parameters of a CSV import", () => {
  it("are each refused by name, or taken", async () => {
    const document = await readApiDocument();
    const route = ROUTES.find((each) => nameOf(each) === ROUTE);
    if (route === undefined) throw new Error(`There is no ${ROUTE}.`);
    const names = document
      .operationOf(route)
      .parameters.filter((each) => each.in === "query")
      .map(({ name }) => name);
    const attacks = names.flatMap((name) =>
      Object.entries(HOSTILE_QUERIES).map(([what, write]) => ({
        name: `${name}: ${what}`,
        query: `${queryWithout(name)}&${write(name)}`,
        place: name,
      })),
    );
    expect(names).toContain("delimiter");
    expect(await faultsOf(attacks, true)).toEqual([]);
  });
});

describe("a declared column", () => {
  it.each(Object.keys(COLUMN))("is refused for its %s by place, or taken", async (member) => {
    const attacks = HOSTILE_VALUES.map(({ what, json }) => {
      const place = member === "options" ? ["0", member, "0"] : ["0", member];
      const resolve = <Schema>(schema: Schema): Schema => schema;
      const columns = placeIn({ resolve }, {}, [COLUMN], { place, json });
      const query = queryWithout("", { columns });
      // A document of too many levels or elements is none of ours; a name that fits no header is.
      return { name: `${place.join(".")}: ${what}`, query, place: "columns" };
    });
    expect(await faultsOf(attacks, true)).toEqual([]);
  });

  it("is taken as it is", async () => {
    const query = queryWithout("", { columns: JSON.stringify([COLUMN]) });
    const { status, data } = await send({ query });
    expect(status).toBe(201);
    const { id } = z.looseObject({ id: z.string() }).parse(data);
    expect(await system.call("DELETE", `/tables/${id}`)).toMatchObject({ status: 200 });
  });
});

describe.each(Object.entries(WRONG_CELLS))("a cell of type %s", (type, cells) => {
  it("is refused by line when its text is none", async () => {
    const columns = JSON.stringify([{ name: "a", type }]);
    const attacks = cells.map((cell) => ({
      name: cell,
      query: queryWithout("", { columns }),
      file: `a,b\n,1\n"${cell.replaceAll('"', '""')}",2\n`,
      place: "lines.3",
    }));
    expect(await faultsOf(attacks, false)).toEqual([]);
  });
});
