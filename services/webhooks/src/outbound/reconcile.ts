import { loop } from "@workflow/async";
import type { Loop } from "@workflow/async";
import type { Database } from "@workflow/db";
import { parseEnvelope } from "@workflow/events";
import type { Logger } from "pino";
import { advanceComparison, beginComparison } from "../store/comparisons.ts";
import type { Span } from "../store/comparisons.ts";
import { listCompaniesWithEndpoints } from "../store/delivery-endpoints.ts";
import type { Ingest } from "./ingest.ts";
import type { RunEventsClient } from "./run-events-client.ts";

/** The dependencies of comparisons. */
export interface ReconcileOptions {
  database: Database;
  runs: RunEventsClient;
  ingest: Ingest;
  logger: Logger;
  signal: AbortSignal;
  /** The interval of comparisons, in milliseconds. */
  intervalMs: number;
  onMissing: (count: number) => void;
}

const OVERLAP_MS = 2 * 60_000;
/** The age of the youngest compared runs; events of younger ones may still be on the bus. */
const SETTLE_MS = 10_000;
const BACK_MS = 24 * 60 * 60_000;
/** The period of one comparison. Its end is stored. */
const SLICE_MS = { least: 1_000, first: 60_000, most: 4 * 60_000 } as const;
/**
 * The limit of a period's pages. Each page reads all runs that ended in the period, so more pages call
 * for a shorter period.
 */
const PAGES_MAX = 8;
const COMPANIES_MAX = 1_000;
/** An id that sorts before every company. */
const NO_COMPANY = "00000000-0000-0000-0000-000000000000";

/** Finds and stores events of ended runs that never arrived. */
export function reconcile(options: ReconcileOptions): Loop {
  const { database, logger, signal, intervalMs } = options;
  return loop({
    name: "reconcile-run-events",
    signal,
    intervalMs,
    logger,
    run: async () => {
      const span = await beginComparison(database, {
        // A replica's timer may be a little early.
        everyMs: intervalMs * 0.9,
        overlapMs: OVERLAP_MS,
        settleMs: Math.min(SETTLE_MS, intervalMs),
        backMs: BACK_MS,
      });
      if (span !== null) await compare(options, span);
    },
  });
}

/** Compares period by period. A compared period stays so, whatever happens to the next one. */
async function compare(options: ReconcileOptions, span: Span): Promise<void> {
  const { database, logger, signal, onMissing } = options;
  const end = span.before;
  let from = span.from;
  let sliceMs: number = SLICE_MS.first;
  let missing = 0;
  try {
    while (from < end && !signal.aborted) {
      const before = new Date(Math.min(from.getTime() + sliceMs, end.getTime()));
      const pagesMax = sliceMs > SLICE_MS.least ? PAGES_MAX : Infinity;
      const found = await compareSlice(options, { from, before }, pagesMax);
      missing += found.missing;
      if (found.isWhole) {
        await advanceComparison(database, { before, end, overlapMs: OVERLAP_MS });
        from = before;
      }
      if (!found.isWhole) sliceMs = Math.max(sliceMs / 2, SLICE_MS.least);
      else if (found.pages <= PAGES_MAX / 4) sliceMs = Math.min(sliceMs * 2, SLICE_MS.most);
    }
  } finally {
    if (missing > 0) {
      logger.warn({ missing, ...span }, "events of runs had not come and were made again");
      onMissing(missing);
    }
  }
}

interface Compared {
  missing: number;
  /** The highest number of pages of any group of companies. */
  pages: number;
  /** Whether the comparison reached the end of the period. */
  isWhole: boolean;
}

async function compareSlice(
  options: ReconcileOptions,
  slice: Span,
  pagesMax: number,
): Promise<Compared> {
  const { database, signal } = options;
  const sum: Compared = { missing: 0, pages: 0, isWhole: true };
  let after: string | undefined = NO_COMPANY;
  while (after !== undefined && sum.isWhole && !signal.aborted) {
    const companyIds: readonly string[] = await listCompaniesWithEndpoints(
      database,
      after,
      COMPANIES_MAX,
    );
    if (companyIds.length > 0) {
      const compared = await compareCompanies(options, companyIds, slice, pagesMax);
      sum.missing += compared.missing;
      sum.pages = Math.max(sum.pages, compared.pages);
      sum.isWhole = compared.isWhole;
    }
    after = companyIds.length === COMPANIES_MAX ? companyIds.at(-1) : undefined;
  }
  if (signal.aborted) sum.isWhole = false;
  return sum;
}

async function compareCompanies(
  { runs, ingest, signal }: ReconcileOptions,
  companyIds: readonly string[],
  { from, before }: Span,
  pagesMax: number,
): Promise<Compared> {
  let missing = 0;
  let pages = 0;
  let pageToken: string | null = "";
  while (pageToken !== null && pages < pagesMax && !signal.aborted) {
    const page: Awaited<ReturnType<RunEventsClient["listEndEvents"]>> = await runs.listEndEvents(
      companyIds,
      { from, before, pageToken },
      signal,
    );
    const events = page.events.flatMap((text) => parseEnvelope(text) ?? []);
    missing += await ingest.putMissing(events);
    pageToken = page.nextPageToken;
    pages += 1;
  }
  return { missing, pages, isWhole: pageToken === null };
}
