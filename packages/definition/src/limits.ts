/** How large a definition may be. Counts are of items, sizes in bytes, times in milliseconds. */
export const DEFINITION_LIMITS = {
  /** Violations that one answer lists. */
  violationsMax: 50,
  /** Steps in all, nested ones included. */
  stepsMax: 1_000,
  /** Blocks around a step. */
  blockDepthMax: 20,
  /** Branches of one step. */
  branchesMax: 100,
  /** Branches or items of a parallel step at one time. */
  parallelConcurrencyMax: 100,
  /** Items that a parallel step's array may have where it is written out. */
  forEachItemsMax: 10_000,
  /** Iterations that a loop may be allowed. */
  loopIterationsMax: 100_000,
  /** Users, and roles, that one approval step may name. */
  approversMax: 100,
  nameCharsMax: 255,
  webhookPathCharsMax: 255,
  expressionCharsMax: 16_384,
  /** Of all expressions of a definition; parsing 16 Ki takes up to 0.6 s, in a process of its own. */
  expressionCharsSumMax: 262_144,
  conditionDepthMax: 32,
  patternCharsMax: 1_000,
  /** Parts (characters, classes, groups) of one pattern, repeated ones as often as they repeat. */
  patternSizeMax: 5_000,
  /** Of all patterns of a definition, or of one JSON Schema; compiling takes some 3 µs a part. */
  patternSizeSumMax: 10_000,
  jsonSchemaBytesMax: 256 * 1024,
  jsonSchemaDepthMax: 32,
  /** Of any JSON Schema, those stored earlier included. */
  jsonSchemaPartsMax: 1_000,
  /** Of a new definition's JSON Schema: compiling takes some 0.1 ms a part, in one go. */
  jsonSchemaPartsEachMax: 400,
  /** What each of a definition's JSON Schemas counts beside its parts. */
  jsonSchemaPartsEach: 10,
  /** Of all JSON Schemas of a definition. */
  jsonSchemaPartsSumMax: 4_000,
  templateResultBytesMax: 1024 * 1024,
  /** Timeout of a run or a step: 30 days. */
  timeoutMsMax: 30 * 86_400_000,
  /** Longest delay: a year. */
  delayMsMax: 366 * 86_400_000,
} as const;
