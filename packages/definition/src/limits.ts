/** The limits of a definition. Counts are of items, sizes in bytes, times in milliseconds. */
export const DEFINITION_LIMITS = {
  /** Violations that one answer lists. */
  violationsMax: 50,
  /** All steps, nested ones included. */
  stepsMax: 1_000,
  /** Blocks around a step. */
  blockDepthMax: 20,
  /** Branches of one step. */
  branchesMax: 100,
  /** Branches or items of a parallel step that run at one time. */
  parallelConcurrencyMax: 100,
  /** Items of a parallel step's array that is a literal. */
  forEachItemsMax: 10_000,
  /** The highest limit of a loop's iterations. */
  loopIterationsMax: 100_000,
  /** Users, and roles, that one approval step may name. */
  approversMax: 100,
  nameCharsMax: 255,
  webhookPathCharsMax: 255,
  expressionCharsMax: 16_384,
  /** The size of all expressions of a definition. Parsing 16 Ki takes up to 0.6 s, in a separate process. */
  expressionCharsSumMax: 262_144,
  conditionDepthMax: 32,
  patternCharsMax: 1_000,
  /** Parts (characters, classes, groups) of one pattern; a repeated part counts each time. */
  patternSizeMax: 5_000,
  /** Parts of all patterns of a definition, or of one JSON Schema. Compiling takes some 3 µs a part. */
  patternSizeSumMax: 10_000,
  jsonSchemaBytesMax: 256 * 1024,
  jsonSchemaDepthMax: 32,
  /** Parts of any JSON Schema, earlier stored ones included. */
  jsonSchemaPartsMax: 1_000,
  /** Parts of a new definition's JSON Schema. Compiling takes some 0.1 ms a part, in one go. */
  jsonSchemaPartsEachMax: 400,
  /** The fixed count of each JSON Schema in a definition, in addition to its parts. */
  jsonSchemaPartsEach: 10,
  /** Parts of all JSON Schemas of a definition. */
  jsonSchemaPartsSumMax: 4_000,
  templateResultBytesMax: 1024 * 1024,
  /** Timeout of a run or a step: 30 days. */
  timeoutMsMax: 30 * 86_400_000,
  /** Longest delay: a year. */
  delayMsMax: 366 * 86_400_000,
} as const;
