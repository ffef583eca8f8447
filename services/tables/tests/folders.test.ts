import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newUuid } from "@workflow/db";
import type { Folder, Table } from "@workflow/proto/tables/v1/tables";
import { errorOf, newIdentity, startHarness } from "./support/harness.ts";
import type { Harness } from "./support/harness.ts";
import { importMessages, listAuditEvents, newTable } from "./support/table-requests.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

type Options = ReturnType<typeof newCompany>;

function newCompany() {
  return { identity: newIdentity() };
}

function createFolder(name: string, options: Options): Promise<Folder> {
  return harness.tables.createFolder({ name }, options);
}

function createTable(options: Options, folderId = ""): Promise<Table> {
  return harness.tables.createTable(newTable({ folderId }), options);
}

async function listFolders(options: Options): Promise<Folder[]> {
  return (await harness.tables.listFolders({}, options)).folders;
}

describe("CreateFolder", () => {
  it("stores an empty folder under the trimmed name", async () => {
    const options = newCompany();
    const folder = await createFolder("\u00a0 Sales\n", options);
    expect(folder).toMatchObject({ name: "Sales", tableIds: [] });
    expect(await listFolders(options)).toEqual([folder]);
  });

  it("takes 1 to 255 characters", async () => {
    const options = newCompany();
    for (const name of ["x", "x".repeat(255), ` ${"😀".repeat(255)} `]) {
      expect((await createFolder(name, options)).name).toBe(name.trim());
    }
    for (const name of ["", " \t\n", "x".repeat(256), "😀".repeat(256), "a\0"]) {
      expect(await errorOf(createFolder(name, options))).toMatchObject({
        reason: "BAD_REQUEST",
        violations: [{ path: ["name"] }],
      });
    }
  });

  it("refuses a name that is taken, which other capitals, forms and companies are not", async () => {
    const options = newCompany();
    await createFolder("Café", options);
    for (const name of ["café", "CAFÉ", "Cafe\u0301"]) await createFolder(name, options);
    await createFolder("Café", newCompany());
    expect(await errorOf(createFolder(" Café ", options))).toMatchObject({ reason: "CONFLICT" });
    expect(await listFolders(options)).toHaveLength(4);
  });

  it("stores one of those that are made at the same time", async () => {
    const options = newCompany();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, () => createFolder("Same", options)),
    );
    const refused = outcomes.filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(9);
    for (const outcome of refused)
      expect(outcome).toMatchObject({ reason: { reason: "CONFLICT" } });
    expect(await listFolders(options)).toHaveLength(1);
  });

  it("tells the audit log", async () => {
    const options = newCompany();
    const folder = await createFolder("Sales", options);
    const events = await listAuditEvents(harness.database, options.identity.companyId);
    expect(events).toMatchObject([
      {
        type: "table_folder.created",
        data: {
          resourceType: "table_folder",
          resourceId: folder.id,
          changes: { name: { from: null, to: "Sales" } },
        },
      },
    ]);
  });
});

describe("ListFolders", () => {
  it("lists the company's folders as people sort names", async () => {
    const options = newCompany();
    const sorted = ["10", "9", "Äpfel", "apple", "Apple", "banana", "Zoo"];
    for (const name of sorted.toReversed()) await createFolder(name, options);
    expect((await listFolders(options)).map(({ name }) => name)).toEqual(sorted);
    expect(await listFolders(newCompany())).toEqual([]);
  });

  it("names the tables in a folder, newest first", async () => {
    const options = newCompany();
    const { id } = await createFolder("Sales", options);
    const first = await createTable(options, id);
    await createTable(options);
    const second = await harness.tables.importTable(
      importMessages(newTable({ columns: { columns: [] }, folderId: id }), [{}]),
      options,
    );
    const [folder] = await listFolders(options);
    expect(folder?.tableIds).toEqual([second.id, first.id]);
    await harness.tables.deleteTable({ tableId: second.id }, options);
    expect((await listFolders(options))[0]?.tableIds).toEqual([first.id]);
  });
});

describe("MoveTable", () => {
  it("puts a table into a folder, another one and back to the root", async () => {
    const options = newCompany();
    const a = await createFolder("A", options);
    const b = await createFolder("B", options);
    const { id: tableId } = await createTable(options);
    const places = async (): Promise<string[][]> =>
      (await listFolders(options)).map(({ tableIds }) => tableIds);

    const moved = await harness.tables.moveTable({ tableId, folderId: a.id }, options);
    expect(moved).toEqual({ tableId, folderId: a.id });
    expect(await places()).toEqual([[tableId], []]);
    expect((await harness.tables.getTable({ tableId }, options)).folderId).toBe(a.id);

    await harness.tables.moveTable({ tableId, folderId: b.id }, options);
    expect(await places()).toEqual([[], [tableId]]);

    const back = await harness.tables.moveTable({ tableId, folderId: "" }, options);
    expect(back).toEqual({ tableId, folderId: undefined });
    expect(await places()).toEqual([[], []]);
  });

  it("is told to the audit log, but not when the table lies there already", async () => {
    const options = newCompany();
    const { id: folderId } = await createFolder("A", options);
    const { id: tableId } = await createTable(options);
    await harness.tables.moveTable({ tableId, folderId }, options);
    const once = await harness.tables.getTable({ tableId }, options);
    await harness.tables.moveTable({ tableId, folderId }, options);
    expect(await harness.tables.getTable({ tableId }, options)).toEqual(once);
    const events = await listAuditEvents(harness.database, options.identity.companyId);
    expect(events.filter(({ type }) => type === "table.moved")).toMatchObject([
      { data: { resourceId: tableId, changes: { folderId: { from: null, to: folderId } } } },
    ]);
  });

  it("does not find folders that are unknown, of another company or no ids", async () => {
    const options = newCompany();
    const { id: tableId } = await createTable(options);
    const foreign = await createFolder("Theirs", newCompany());
    for (const folderId of [newUuid(), foreign.id, "root", "null"]) {
      const calls = [
        harness.tables.moveTable({ tableId, folderId }, options),
        createTable(options, folderId),
        harness.tables.importTable(
          importMessages(newTable({ columns: { columns: [] }, folderId }), []),
          options,
        ),
      ];
      for (const call of calls) {
        const { reason, message } = await errorOf(call);
        expect({ reason, message }).toEqual({ reason: "NOT_FOUND", message: "Folder not found" });
      }
    }
    const { tables } = await harness.tables.listTables({}, options);
    expect(tables.map(({ id }) => id)).toEqual([tableId]);
  });

  it("gets along with moves the other way round", async () => {
    const options = newCompany();
    const a = await createFolder("A", options);
    const b = await createFolder("B", options);
    const inA = await createTable(options, a.id);
    const inB = await createTable(options, b.id);
    for (let round = 0; round < 5; round += 1) {
      const [from, to] = round % 2 === 0 ? [a.id, b.id] : [b.id, a.id];
      await Promise.all([
        harness.tables.moveTable({ tableId: inA.id, folderId: to }, options),
        harness.tables.moveTable({ tableId: inB.id, folderId: from }, options),
      ]);
    }
    const [first, second] = await listFolders(options);
    expect([first?.tableIds, second?.tableIds]).toEqual([[inB.id], [inA.id]]);
  });
});
