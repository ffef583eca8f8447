import { describe, expect, it } from "@jest/globals";
import { parseColumns } from "../src/domain/columns.ts";
import { problemsOf } from "./support/problems-of.ts";

const text = (name: string) => ({ name, type: "text" });

function generated() {
  let count = 0;
  return { idFrom: "generated" as const, newId: () => `col_${(count += 1)}` };
}

describe("columns of a table", () => {
  it("keep given ids and get made ones otherwise", () => {
    const columns = [{ id: "price", name: "Price", type: "number" }, text("Note"), text("Note")];
    expect(parseColumns(columns, generated())).toEqual([
      { id: "price", name: "Price", type: "number" },
      { id: "col_1", name: "Note", type: "text" },
      { id: "col_2", name: "Note", type: "text" },
    ]);
  });

  it("keep required, and options of any type; unknown members and nulls are left out", () => {
    const columns = [
      { id: "s", name: "S", type: "select", required: true, options: ["b", "a"], width: 3 },
      { id: "t", name: "T", type: "text", required: false, options: ["x"] },
      { id: "u", name: "U", type: "url", required: null, options: [] },
      { id: null, name: "V", type: "json", options: null },
    ];
    expect(parseColumns(columns, generated())).toEqual([
      { id: "s", name: "S", type: "select", required: true, options: ["b", "a"] },
      { id: "t", name: "T", type: "text", required: false, options: ["x"] },
      { id: "u", name: "U", type: "url" },
      { id: "col_1", name: "V", type: "json" },
    ]);
  });

  it("may have ids that objects of JavaScript have as properties", () => {
    const ids = ["__proto__", "constructor", "toString", "any", "a.b", " "];
    const columns = ids.map((id) => ({ id, name: id, type: "text" }));
    expect(parseColumns(columns, generated()).map(({ id }) => id)).toEqual(ids);
  });

  it("have ids and names of 1 to 255 characters", () => {
    const longest = "🙂".repeat(255);
    expect(parseColumns([{ id: longest, name: longest, type: "text" }], generated())).toEqual([
      { id: longest, name: longest, type: "text" },
    ]);
    const columns = [
      { id: "", name: "", type: "text" },
      { id: `${longest}x`, name: `${longest}x`, type: "text" },
      { id: "a\0", name: "\ud800", type: "text" },
      { id: 5, type: "text" },
    ];
    expect(problemsOf(() => parseColumns(columns, generated()))).toEqual([
      "columns.0.id: must have 1 to 255 characters",
      "columns.0.name: must have 1 to 255 characters",
      "columns.1.id: must have 1 to 255 characters",
      "columns.1.name: must have 1 to 255 characters",
      "columns.2.id: must not contain NUL or unpaired surrogates",
      "columns.2.name: must not contain NUL or unpaired surrogates",
      "columns.3.id: must be a string",
      "columns.3.name: is required and must be a string",
    ]);
  });

  it("have a type of the contract", () => {
    const types = "text, number, boolean, date, select, url, email, json";
    const columns = [{ name: "A", type: "Text" }, { name: "B" }, "C", null];
    expect(problemsOf(() => parseColumns(columns, generated()))).toEqual([
      `columns.0.type: must be one of ${types}`,
      `columns.1.type: is required and must be one of ${types}`,
      "columns.2: must be an object with name and type",
      "columns.3: must be an object with name and type",
    ]);
  });

  it("of type select have distinct options that are not empty", () => {
    const select = { name: "S", type: "select" };
    const columns = [
      select,
      { ...select, options: [] },
      { ...select, options: ["a", "A", "a", "", 5] },
      { ...select, options: "a" },
      { ...select, options: ["a"], required: "yes" },
    ];
    expect(problemsOf(() => parseColumns(columns, generated()))).toEqual([
      "columns.0.options: must hold at least one option for a column of type select",
      "columns.1.options: must hold at least one option for a column of type select",
      "columns.2.options.2: must differ from the options before it",
      "columns.2.options.3: must be a string that is not empty",
      "columns.2.options.4: must be a string that is not empty",
      "columns.3.options: must be an array of strings",
      "columns.4.required: must be true or false",
    ]);
  });

  it("have ids that are unique in the table", () => {
    const columns = [
      { id: "a", name: "A", type: "text" },
      { id: "A", name: "A", type: "text" },
      { id: "a", name: "C", type: "text" },
    ];
    expect(problemsOf(() => parseColumns(columns, generated()))).toEqual([
      "columns.2.id: is the id of the column at index 0 too",
    ]);
  });

  it("are an array, known to callers by the path given", () => {
    const origin = { ...generated(), path: ["schema", "columns"] };
    expect(problemsOf(() => parseColumns({}, origin))).toEqual([
      "schema.columns: must be an array of columns",
    ]);
    expect(parseColumns([], origin)).toEqual([]);
  });

  it("tell at most 50 problems", () => {
    const columns = Array.from({ length: 60 }, () => ({ name: "", type: "text" }));
    expect(problemsOf(() => parseColumns(columns, generated()))).toHaveLength(50);
  });
});

describe("columns that replace others (D35)", () => {
  const existing = parseColumns([text("A"), text("B"), text("B")], generated());
  const replacing = () => ({ idFrom: "generated" as const, newId: () => "col_new", existing });

  it("keep the id of the existing column of the same name, also with a new type", () => {
    const columns = [text("B"), { name: "A", type: "number" }, text("a")];
    expect(parseColumns(columns, replacing())).toEqual([
      { id: "col_2", name: "B", type: "text" },
      { id: "col_1", name: "A", type: "number" },
      { id: "col_new", name: "a", type: "text" },
    ]);
  });

  it("take the ids of several columns of one name in their order, each once", () => {
    const columns = [text("B"), text("B"), text("B")];
    expect(parseColumns(columns, replacing()).map(({ id }) => id)).toEqual([
      "col_2",
      "col_3",
      "col_new",
    ]);
  });

  it("do not take an id that another column names", () => {
    const columns = [text("A"), { id: "col_1", name: "Renamed", type: "text" }];
    expect(parseColumns(columns, replacing())).toEqual([
      { id: "col_new", name: "A", type: "text" },
      { id: "col_1", name: "Renamed", type: "text" },
    ]);
  });
});

describe("columns of an import", () => {
  const imported = { idFrom: "name" } as const;

  it("have their names as ids unless they have others", () => {
    expect(parseColumns([text("A b"), { id: "x", ...text("C") }], imported)).toEqual([
      { id: "A b", name: "A b", type: "text" },
      { id: "x", name: "C", type: "text" },
    ]);
  });

  it("with the same name need ids that differ", () => {
    const named = { id: "x", ...text("A") };
    expect(parseColumns([named, { ...named, id: "y" }], imported)).toHaveLength(2);
    expect(problemsOf(() => parseColumns([text("A"), text("B"), text("A")], imported))).toEqual([
      "columns.0.id: is required: another column has the same name",
      "columns.2.id: is required: another column has the same name",
    ]);
    expect(problemsOf(() => parseColumns([named, text("A")], imported))).toEqual([
      "columns.1.id: is required: another column has the same name",
    ]);
  });

  it("may not have the name of one as the id of another", () => {
    expect(
      problemsOf(() => parseColumns([text("A"), { id: "A", ...text("B") }], imported)),
    ).toEqual(["columns.1.id: is the id of the column at index 0 too"]);
  });
});
