/** A value that is small enough to be kept as it is. */
export type AuditValue = string | number | boolean | null;

/** The change of one field. */
export type AuditChange =
  | { readonly from: AuditValue; readonly to: AuditValue }
  /** For documents and secrets: only that they changed, never their contents. */
  | { readonly changed: true }
  /** For lists of things that have an id. */
  | {
      readonly added: readonly string[];
      readonly removed: readonly string[];
      readonly modified: readonly string[];
    };

/** The changes of an object by field. */
export type AuditChanges = Readonly<Record<string, AuditChange>>;

/** Fields of an object that may be shown; undefined counts as null. */
export type AuditFields = Readonly<Record<string, AuditValue | undefined>>;

/** Items by their id, each with a text that differs when the item does. */
export type AuditItems = ReadonlyMap<string, string>;

const TEXT_CHARS_MAX = 500;
const IDS_MAX = 20;
const CHANGES_BYTES_MAX = 16 * 1024;

/**
 * The fields in which two states differ. Compared with `{}`, they are those of a new or a deleted
 * object.
 */
export function changesBetween(before: AuditFields, after: AuditFields): AuditChanges {
  const changes: Record<string, AuditChange> = {};
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const from = before[field] ?? null;
    const to = after[field] ?? null;
    // Values are compared before they are cut: long texts may differ at their ends.
    if (from !== to) changes[field] = { from: clip(from), to: clip(to) };
  }
  return changes;
}

/** Fields that identify the object and do not change: from and to are the same. */
export function unchanged(fields: AuditFields): AuditChanges {
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => {
      const shown = clip(value ?? null);
      return [field, { from: shown, to: shown }];
    }),
  );
}

/** Items of a list that were added, removed and changed. Only the first of many are named. */
export function itemChanges(before: AuditItems, after: AuditItems): AuditChange {
  const firstIds = (items: AuditItems, isMeant: (id: string, text: string) => boolean): string[] =>
    [...items]
      .filter(([id, text]) => isMeant(id, text))
      .slice(0, IDS_MAX)
      .map(([id]) => clipText(id));
  return {
    added: firstIds(after, (id) => !before.has(id)),
    removed: firstIds(before, (id) => !after.has(id)),
    modified: firstIds(after, (id, text) => before.has(id) && before.get(id) !== text),
  };
}

/** The changes, shortened where all of them together would be more than 16 KiB. */
export function fitChanges(changes: AuditChanges): AuditChanges {
  const kept: Record<string, AuditChange> = {};
  let bytes = 2;
  for (const [field, change] of Object.entries(changes)) {
    const name = clipText(field);
    const size = bytesOf(name) + bytesOf(change) + 2;
    const shortened = bytes + size > CHANGES_BYTES_MAX;
    const entry: AuditChange = shortened ? { changed: true } : change;
    bytes += shortened ? bytesOf(name) + bytesOf(entry) + 2 : size;
    if (bytes > CHANGES_BYTES_MAX) break;
    kept[name] = entry;
  }
  return kept;
}

function clip(value: AuditValue): AuditValue {
  return typeof value === "string" ? clipText(value) : value;
}

function clipText(text: string): string {
  if (text.length <= TEXT_CHARS_MAX) return text;
  return `${text.slice(0, TEXT_CHARS_MAX).toWellFormed()}…`;
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}
