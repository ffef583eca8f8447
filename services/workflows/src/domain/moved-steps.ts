/** Where a step stands. */
export interface StepPlace {
  /** JSON pointer into the workflow (RFC 6901). */
  pointer: string;
  /** The same for all steps of one list, also when what holds it has moved. */
  list: string;
}

/**
 * The steps of both versions, by id, that stand in another list than before or at another place among
 * those that have stayed in theirs. As few as possible: what only made room has not moved. Both maps
 * are in document order.
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
  /** Its place in the version before. */
  order: number;
}

interface Chain {
  entry: Entry;
  before: Chain | undefined;
}

/** Ids of a longest part of a list whose orders increase, by patience sorting. */
function longestIncreasing(entries: readonly Entry[]): ReadonlySet<string> {
  /** At index n the end of the chain of n + 1 entries whose last order is smallest. */
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
