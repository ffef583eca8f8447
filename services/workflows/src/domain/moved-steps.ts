/** The position of a step. */
export interface StepPlace {
  /** JSON pointer into the workflow (RFC 6901). */
  pointer: string;
  /** Identifies the list, even when the step that contains it has moved. */
  list: string;
}

/**
 * The steps, by id, that stand in another list than before, or at another position among those that
 * stayed in theirs. The result is as small as possible: a step that only made room has not moved.
 * Both maps are in document order.
 */
export function findMoved(
  before: ReadonlyMap<string, StepPlace>,
  after: ReadonlyMap<string, StepPlace>,
): ReadonlySet<string> {
  const orders = new Map([...before.keys()].map((id, order) => [id, order]));
  const moved = new Set<string>();
  const stayed = new Map<string, Entry[]>();
  for (const [id, { list }] of after) {
    const old = before.get(id);
    if (old === undefined) continue;
    if (old.list !== list) {
      moved.add(id);
      continue;
    }
    const entries = stayed.get(list) ?? [];
    entries.push({ id, order: orders.get(id) ?? 0 });
    stayed.set(list, entries);
  }
  for (const entries of stayed.values()) {
    const inOrder = longestIncreasing(entries);
    for (const { id } of entries) if (!inOrder.has(id)) moved.add(id);
  }
  return moved;
}

interface Entry {
  id: string;
  /** The step's position in the version before. */
  order: number;
}

interface Chain {
  entry: Entry;
  before: Chain | undefined;
}

/** The ids of a longest increasing subsequence, by patience sorting. */
function longestIncreasing(entries: readonly Entry[]): ReadonlySet<string> {
  /** Index n holds the end of the chain of n + 1 entries with the smallest last order. */
  const ends: Chain[] = [];
  for (const entry of entries) {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ends[middle]?.entry.order ?? Infinity) < entry.order) low = middle + 1;
      else high = middle;
    }
    ends[low] = { entry, before: ends[low - 1] };
  }
  const ids = new Set<string>();
  for (let chain = ends.at(-1); chain !== undefined; chain = chain.before) ids.add(chain.entry.id);
  return ids;
}
