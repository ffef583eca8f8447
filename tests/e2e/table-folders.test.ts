import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { z } from "zod";
import { tableSchema } from "../support/tables.ts";
import { startWholeSystem } from "../support/whole-system.ts";
import type { WholeSystem } from "../support/whole-system.ts";

const folderSchema = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  tableIds: z.array(z.uuid()),
  createdAt: z.iso.datetime({ precision: 3 }),
  updatedAt: z.iso.datetime({ precision: 3 }),
});
const violations = z.array(z.object({ path: z.array(z.string()), message: z.string() }));

const UNKNOWN = "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a5a";

let system: WholeSystem;
beforeAll(async () => {
  system = await startWholeSystem();
});
afterAll(() => system.stop());

async function create(body: object) {
  const answer = await system.call("POST", "/tables", { body });
  expect(answer.error).toBeUndefined();
  expect(answer.status).toBe(201);
  return tableSchema.parse(answer.data);
}

async function read(id: string) {
  const answer = await system.call("GET", `/tables/${id}`);
  expect(answer.status).toBe(200);
  return tableSchema.parse(answer.data);
}

/** The paths that a refused request is told. */
async function badPaths(method: string, path: string, body: object): Promise<string[]> {
  const answer = await system.call(method, path, { body });
  expect(answer).toMatchObject({ status: 400, error: { code: "BAD_REQUEST" } });
  return violations.parse(answer.error?.details).map((each) => each.path.join("."));
}

describe("folders", () => {
  const createFolder = async (name: string, key = system.acme.key) => {
    const answer = await system.call("POST", "/table-folders", { key, body: { name } });
    expect(answer.error).toBeUndefined();
    expect(answer.status).toBe(201);
    return folderSchema.parse(answer.data);
  };
  const listFolders = async (key = system.acme.key) => {
    const answer = await system.call("GET", "/table-folders", { key });
    return z.array(folderSchema).parse(answer.data);
  };
  const move = (tableId: string, folderId: unknown) =>
    system.call("PATCH", `/table-folders/tables/${tableId}`, { body: { folderId } });

  it("have trimmed names that are unique in the company, letters' case included", async () => {
    const { name } = await createFolder("  Sales \n");
    expect(name).toBe("Sales");
    await createFolder("sales");
    await createFolder("Sales", system.globex.key);
    const again = await system.call("POST", "/table-folders", { body: { name: " Sales " } });
    expect(again).toMatchObject({ status: 409, error: { code: "CONFLICT" } });
  });

  it("are listed in the order of their names", async () => {
    const key = system.globex.key;
    for (const name of ["zebra", "Äpfel", "apple", "Banana", "10", "9"]) {
      await createFolder(name, key);
    }
    const names = (await listFolders(key)).map(({ name }) => name);
    const collator = new Intl.Collator("en");
    expect(names).toEqual(names.toSorted((a, b) => collator.compare(a, b)));
    expect(names.indexOf("apple")).toBeLessThan(names.indexOf("Banana"));
  });

  it.each([[""], ["   "], ["x".repeat(256)], [1], [null], [undefined]])(
    "are refused with the name %j",
    async (name) => {
      expect(await badPaths("POST", "/table-folders", { name })).toEqual(["name"]);
    },
  );

  it("may have names of 255 characters", async () => {
    expect((await createFolder(` ${"é".repeat(255)} `)).name).toHaveLength(255);
  });

  it("hold tables, the newest first; a table lies in one of them or in the root", async () => {
    const [left, right] = [await createFolder("Left"), await createFolder("Right")];
    const first = await create({ name: "First", folderId: left.id });
    const second = await create({ name: "Second" });
    expect(first.folderId).toBe(left.id);
    const moved = await move(second.id, left.id);
    expect(moved).toMatchObject({
      status: 200,
      data: { tableId: second.id, folderId: left.id },
    });
    const held = async (id: string) =>
      (await listFolders()).find((folder) => folder.id === id)?.tableIds;
    expect(await held(left.id)).toEqual([second.id, first.id]);
    await move(second.id, right.id);
    expect(await held(left.id)).toEqual([first.id]);
    expect(await held(right.id)).toEqual([second.id]);
    expect((await read(second.id)).folderId).toBe(right.id);
    expect((await move(second.id, null)).data).toEqual({ tableId: second.id, folderId: null });
    expect(await held(right.id)).toEqual([]);
    await system.call("DELETE", `/tables/${first.id}`);
    expect(await held(left.id)).toEqual([]);
  });

  it("are found only by ids of the company", async () => {
    const { id } = await create({ name: "T" });
    const mine = await createFolder("Mine");
    const theirs = await createFolder("Theirs", system.globex.key);
    for (const folderId of [theirs.id, UNKNOWN, "no-id", ""]) {
      expect(await move(id, folderId)).toMatchObject({ status: 404 });
      const made = await system.call("POST", "/tables", { body: { name: "T", folderId } });
      expect(made).toMatchObject({ status: 404, error: { code: "NOT_FOUND" } });
      const body = { name: "T", columns: [], rows: [], folderId };
      expect(await system.call("POST", "/tables/import", { body })).toMatchObject({ status: 404 });
    }
    for (const tableId of [UNKNOWN, "no-id"]) {
      expect(await move(tableId, mine.id)).toMatchObject({ status: 404 });
    }
    expect((await read(id)).folderId).toBeNull();
  });

  it.each([[undefined], [1], [{}]])("need to be named: folderId %j", async (folderId) => {
    const { id } = await create({ name: "T" });
    expect(await badPaths("PATCH", `/table-folders/tables/${id}`, { folderId })).toEqual([
      "folderId",
    ]);
  });
});
