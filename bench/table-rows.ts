/** The options of the select column. */
export const STATUSES = ["open", "closed", "pending", "blocked", "done"] as const;

const WORDS = [
  "Alpha bravo Charlie delta Echo foxtrot Golf hotel India juliet Kilo lima Mike",
  "november Oscar papa Quebec romeo Sierra tango Uniform victor Whiskey Xavier Yankee zulu",
].flatMap((line) => line.split(" "));

/** The columns of the measured table. */
export const COLUMNS = [
  { id: "name", name: "Name", type: "text" },
  { id: "email", name: "E-mail", type: "email" },
  { id: "status", name: "Status", type: "select", options: [...STATUSES] },
  { id: "amount", name: "Amount", type: "number" },
  { id: "quantity", name: "Quantity", type: "number" },
  { id: "due", name: "Due", type: "date" },
  { id: "active", name: "Active", type: "boolean" },
  { id: "notes", name: "Notes", type: "text" },
] as const;

/** The data of one row. */
export interface TableRow {
  name: string;
  email: string;
  status: (typeof STATUSES)[number];
  amount: number;
  quantity: number;
  due: string;
  active: boolean;
  notes: string;
}

const DAY_MS = 86_400_000;

/** Rows that are the same in every run. */
export function makeRows(count: number): TableRow[] {
  const random = createRandom(7);
  const pick = <Item>(items: readonly [Item, ...Item[]] | readonly Item[]): Item => {
    const item = items[Math.floor(random() * items.length)];
    if (item === undefined) throw new Error("There is nothing to pick from.");
    return item;
  };
  return Array.from({ length: count }, (_, index) => ({
    name: `${pick(WORDS)} ${pick(WORDS)} ${index}`,
    email: `user${index}@example${index % 100}.com`,
    status: pick(STATUSES),
    amount: Math.floor(random() * 1_000_000),
    quantity: Math.floor(random() * 100),
    due: new Date(Date.UTC(2020, 0, 1) + Math.floor(random() * 2_000) * DAY_MS)
      .toISOString()
      .slice(0, 10),
    active: random() < 0.5,
    notes: `${pick(WORDS)} ${pick(WORDS)} ${pick(WORDS)} ${Math.floor(random() * 1e9).toString(36)}`,
  }));
}

/** Numbers from 0 to 1 that are the same in every run and on every machine (Mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
