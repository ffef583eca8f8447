/** Kinds of statements that may break code of the release before, each with what its mark has to explain. */
const BREAKING: readonly (readonly [RegExp, string])[] = [
  [
    /\bdrop\s+(?:table|view|materialized view|function|procedure|schema|type|sequence)\b/,
    "drops what old code may use",
  ],
  [/\bdrop\s+column\b/, "drops a column"],
  [/\brename\b/, "renames"],
  [/\balter\s+(?:column\s+)?\S+\s+(?:set\s+data\s+)?type\b/, "changes the type of a column"],
  [/\bset\s+not\s+null\b/, "refuses nulls that old code may write"],
  [
    /\badd\s+(?:constraint|check|unique|foreign|primary)\b/,
    "adds a constraint that old code does not know",
  ],
  [/\bcreate\s+unique\s+index\b/, "adds a unique index that old code does not know"],
  [/\btruncate\b/, "removes rows"],
];
const NOT_NULL_COLUMN =
  /\badd\s+column\b(?![^,;]*\bdefault\b)(?![^,;]*\bgenerated\b)[^,;]*\bnot\s+null\b/;
const TABLE_OF_THIS_FILE = /\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?([a-z_.]+)/g;
const MARK = /^-- safe beside old code: \S.*$/m;

/**
 * What of a migration may break running code of the release before; empty when nothing may, or when the file
 * says why it does not. What is done to a table that the same file makes concerns nobody.
 */
export function findBreakingStatements(text: string): string[] {
  if (MARK.test(text)) return [];
  const sql = text.replaceAll(/--[^\n]*/g, " ").toLowerCase();
  const made = new Set(Array.from(sql.matchAll(TABLE_OF_THIS_FILE), ([, name = ""]) => name));
  return sql.split(";").flatMap((statement) => {
    const [, altered = ""] =
      /\balter\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?([a-z_.]+)/.exec(statement) ?? [];
    const [, indexed = ""] = /\bindex\b[^;]*?\bon\s+([a-z_.]+)/.exec(statement) ?? [];
    if (made.has(altered) || made.has(indexed)) return [];
    // Constraints within a table that is being made are its own.
    if (/^\s*create\s+table\b/.test(statement)) return [];
    const found = BREAKING.filter(([pattern]) => pattern.test(statement)).map(([, what]) => what);
    if (NOT_NULL_COLUMN.test(statement)) found.push("adds a column that old code does not fill");
    return found;
  });
}
