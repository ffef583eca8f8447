/** A path that an expression reads, from the document's top: names as far as they are written out. */
export type ExpressionPath = readonly [root: string, ...names: string[]];

/** What a JSONata expression reads, or why it is none. */
export type ParsedExpression =
  { ok: true; paths: ExpressionPath[] } | { ok: false; message: string };

/**
 * What was found out about expressions, by their text. Parsing JSONata may take long, so whoever
 * validates has it done elsewhere beforehand (`listExpressions`).
 */
export type ParsedExpressions = ReadonlyMap<string, ParsedExpression>;
