/**
 * A path that an expression reads, from the root of its document. The path ends at the first computed name.
 */
export type ExpressionPath = readonly [root: string, ...names: string[]];

/** The paths that a JSONata expression reads, or the reason why the text is none. */
export type ParsedExpression =
  { ok: true; paths: ExpressionPath[] } | { ok: false; message: string };

/**
 * The results of parsing, by the text of the expression. Parsing JSONata may take long, so a validating
 * process has it done elsewhere beforehand (`listExpressions`).
 */
export type ParsedExpressions = ReadonlyMap<string, ParsedExpression>;
