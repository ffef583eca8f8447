import { isJsonObject, isStorableText } from "@workflow/json";
import { COLUMN_TYPES } from "./column.ts";
import type { Column, ColumnType } from "./column.ts";
import { Problems } from "./problems.ts";
import type { FieldPath } from "./problems.ts";

const ID_CHARS_MAX = 255;
const NAME_CHARS_MAX = 255;

/** Where columns come from. The origin decides which id a column without one gets. */
export type ColumnsOrigin = (
  | {
      idFrom: "generated";
      /** Makes a new id for a column. */
      newId: () => string;
      /** The columns that are replaced. A new column of the same name takes over the id (D35). */
      existing?: readonly Column[];
    }
  /** The origin is an import: the keys of its rows are the names of the columns. */
  | { idFrom: "name" }
) & {
  /** The path of the list in the caller's request; `columns` by default. */
  path?: readonly string[];
};

/**
 * Reads the columns of a table from a parsed JSON value, or from objects of the same shape. Members that may be
 * missing may also be null. A column that is no select keeps its options, so that its type can change back. An
 * empty list of options is left out.
 * @throws AppError BAD_REQUEST with up to 50 violations
 */
export function parseColumns(columns: unknown, origin: ColumnsOrigin): Column[] {
  const problems = new Problems();
  const place = problems.at(...(origin.path ?? ["columns"]));
  const drafts = parseDrafts(columns, place);
  problems.throwIfAny();
  const parsed = origin.idFrom === "name" ? nameIds(drafts, place) : makeIds(drafts, origin);
  problems.throwIfAny();
  reportRepeatedIds(parsed, place);
  problems.throwIfAny();
  return parsed;
}

/** A column whose id may still be missing. */
type Draft = Omit<Column, "id"> & { id: string | null };

function parseDrafts(columns: unknown, place: FieldPath): Draft[] {
  if (!Array.isArray(columns)) {
    place.report("must be an array of columns");
    return [];
  }
  return columns.flatMap((column, index) => parseDraft(column, place.at(String(index))) ?? []);
}

function parseDraft(column: unknown, place: FieldPath): Draft | null {
  if (!isJsonObject(column)) {
    place.report("must be an object with name and type");
    return null;
  }
  const { id, name, type, required, options } = column;
  const parsedId = isAbsent(id) ? null : parseText(id, ID_CHARS_MAX, place.at("id"));
  const parsedName = parseText(name, NAME_CHARS_MAX, place.at("name"));
  const parsedType = parseType(type, place.at("type"));
  if (!isAbsent(required) && typeof required !== "boolean") {
    place.at("required").report("must be true or false");
  }
  const parsedOptions = parseOptions(options, parsedType, place.at("options"));
  if (parsedName === null || parsedType === null) return null;
  return {
    id: parsedId,
    name: parsedName,
    type: parsedType,
    ...(typeof required === "boolean" ? { required } : {}),
    ...(parsedOptions.length === 0 ? {} : { options: parsedOptions }),
  };
}

/** Characters are Unicode code points. */
function parseText(text: unknown, charsMax: number, place: FieldPath): string | null {
  if (typeof text !== "string") {
    place.report(text === undefined ? "is required and must be a string" : "must be a string");
  } else if (!isStorableText(text)) {
    place.report("must not contain NUL or unpaired surrogates");
  } else if (text === "" || text.length > charsMax * 2 || Array.from(text).length > charsMax) {
    place.report(`must have 1 to ${charsMax} characters`);
  } else {
    return text;
  }
  return null;
}

function parseType(type: unknown, place: FieldPath): ColumnType | null {
  const known = COLUMN_TYPES.find((each) => each === type);
  if (known !== undefined) return known;
  const list = COLUMN_TYPES.join(", ");
  place.report(
    type === undefined ? `is required and must be one of ${list}` : `must be one of ${list}`,
  );
  return null;
}

function parseOptions(options: unknown, type: ColumnType | null, place: FieldPath): string[] {
  const list: unknown = isAbsent(options) ? [] : options;
  if (!Array.isArray(list)) {
    place.report("must be an array of strings");
    return [];
  }
  if (type === "select" && list.length === 0) {
    place.report("must hold at least one option for a column of type select");
  }
  const parsed = new Set<string>();
  for (const [index, option] of list.entries()) {
    if (typeof option !== "string" || option === "") {
      place.at(String(index)).report("must be a string that is not empty");
    } else if (!isStorableText(option)) {
      place.at(String(index)).report("must not contain NUL or unpaired surrogates");
    } else if (parsed.has(option)) {
      place.at(String(index)).report("must differ from the options before it");
    } else {
      parsed.add(option);
    }
  }
  return [...parsed];
}

function nameIds(drafts: readonly Draft[], place: FieldPath): Column[] {
  const named = Map.groupBy(drafts, ({ name }) => name);
  return drafts.map(({ id, ...draft }, index) => {
    if (id === null && (named.get(draft.name)?.length ?? 0) > 1) {
      place.at(String(index), "id").report("is required: another column has the same name");
    }
    return { id: id ?? draft.name, ...draft };
  });
}

/** Where several existing columns have one name, new ones take over their ids in order. */
function makeIds(
  drafts: readonly Draft[],
  { newId, existing = [] }: { newId: () => string; existing?: readonly Column[] },
): Column[] {
  const given = new Set(drafts.map(({ id }) => id));
  const free = Map.groupBy(
    existing.filter(({ id }) => !given.has(id)),
    ({ name }) => name,
  );
  return drafts.map(({ id, ...draft }) => ({
    id: id ?? free.get(draft.name)?.shift()?.id ?? newId(),
    ...draft,
  }));
}

function reportRepeatedIds(columns: readonly Column[], place: FieldPath): void {
  const owners = new Map<string, number>();
  for (const [index, { id }] of columns.entries()) {
    const owner = owners.get(id);
    if (owner === undefined) owners.set(id, index);
    else place.at(String(index), "id").report(`is the id of the column at index ${owner} too`);
  }
}

function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}
