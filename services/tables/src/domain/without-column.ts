import type { Filter } from "./row-query.ts";

/**
 * A filter without its clauses for one column. If a filter of an `any` group had only such clauses, the group lets
 * every row pass.
 */
export function withoutColumn(filter: Filter, columnId: string): Filter {
  return filter.flatMap((clause): Filter => {
    switch (clause.kind) {
      case "column":
        return clause.column.id === columnId ? [] : [clause];
      case "substring":
        return clause.key === columnId ? [] : [clause];
      case "any": {
        const filters = clause.filters.map((each) => withoutColumn(each, columnId));
        return filters.some((each) => each.length === 0) ? [] : [{ kind: "any", filters }];
      }
    }
  });
}
