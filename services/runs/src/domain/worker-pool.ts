/** The pool of runs that no rule covers, and of workers that name no other pool. */
export const DEFAULT_POOL = "default";

/** Letters, digits and dashes, 40 at most; begins with a letter. */
export const POOL_NAME = /^[a-z][a-z0-9-]{0,39}$/;

/** Says which workers execute the runs of a company, or of those of its workflows that have a tag. */
export interface PoolRule {
  companyId: string;
  /** Null: all workflows that no other rule of the company covers. */
  tag: string | null;
  pool: string;
}

/**
 * The pool of a run. It is the pool of the first rule, by the alphabet, whose tag the workflow has; else
 * the company's pool; else the default one.
 *
 * @param ofCompany the rules of the run's company
 */
export function poolOf(ofCompany: readonly PoolRule[], tags: readonly string[]): string {
  let chosen: PoolRule | undefined;
  for (const rule of ofCompany) {
    if (rule.tag !== null && !tags.includes(rule.tag)) continue;
    if (chosen === undefined || comesBefore(rule.tag, chosen.tag)) chosen = rule;
  }
  return chosen?.pool ?? DEFAULT_POOL;
}

function comesBefore(tag: string | null, other: string | null): boolean {
  if (tag === null || other === null) return tag !== null;
  return Buffer.compare(Buffer.from(tag), Buffer.from(other)) < 0;
}
