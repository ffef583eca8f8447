import type { Database } from "@workflow/db";
import { parseEnvelope } from "@workflow/events";
import { loop } from "@workflow/service";
import type { Loop } from "@workflow/service";
import type { Logger } from "pino";
import { beginComparison, endComparison } from "../store/comparisons.ts";
import type { Span } from "../store/comparisons.ts";
import { listCompaniesWithEndpoints } from "../store/delivery-endpoints.ts";
import type { Ingest } from "./ingest.ts";
import type { RunEventsClient } from "./run-events-client.ts";

/** What comparing needs. */
export interface ReconcileOptions {
  database: Database;
  runs: RunEventsClient;
  ingest: Ingest;
  logger: Logger;
  signal: AbortSignal;
  /** How often ends of runs are compared. */
  intervalMs: number;
  onMissing: (count: number) => void;
}

const OVERLAP_MS = 2 * 60_000;
/** What ended just now is on its way over the bus. */
/** The runs service reads all ends of a slice for each page of it. */
const SLICE_MS = 2 * 60_000;
const SETTLE_MS = 10_000;
const BACK_MS = 24 * 60 * 60_000;
const COMPANIES_MAX = 1_000;
/** Before every company. */
const NO_COMPANY = "00000000-0000-0000-0000-000000000000";

/** Finds events of runs that ended which have never come, and takes them in. */
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
      for (const slice of span === null ? [] : inSlices(span)) {
        if (!(await compare(options, slice))) return;
        await endComparison(database, slice.before);
      }
    },
  });
}

/** What is compared is noted slice by slice, so that whatever comes between, the next comparison goes on there. */
function inSlices({ from, before }: Span): readonly Span[] {
  const count = Math.max(1, Math.ceil((before.getTime() - from.getTime()) / SLICE_MS));
  const at = (slice: number): Date =>
    slice === count ? before : new Date(from.getTime() + slice * SLICE_MS);
  return Array.from({ length: count }, (_, slice) => ({ from: at(slice), before: at(slice + 1) }));
}

/** Whether it came to its end. */
async function compare(options: ReconcileOptions, span: Span): Promise<boolean> {
  const { database, logger, signal, onMissing } = options;
  let missing = 0;
  let after: string | undefined = NO_COMPANY;
  while (after !== undefined && !signal.aborted) {
    const companyIds: readonly string[] = await listCompaniesWithEndpoints(
      database,
      after,
      COMPANIES_MAX,
    );
    if (companyIds.length > 0) missing += await compareCompanies(options, companyIds, span);
    after = companyIds.length === COMPANIES_MAX ? companyIds.at(-1) : undefined;
  }
  if (missing > 0) {
    logger.warn({ missing, ...span }, "events of runs had not come and were made again");
    onMissing(missing);
  }
  return !signal.aborted;
}

async function compareCompanies(
  { runs, ingest, signal }: ReconcileOptions,
  companyIds: readonly string[],
  { from, before }: Span,
): Promise<number> {
  let missing = 0;
  let pageToken: string | null = "";
  while (pageToken !== null && !signal.aborted) {
    const page: Awaited<ReturnType<RunEventsClient["listEndEvents"]>> = await runs.listEndEvents(
      companyIds,
      { from, before, pageToken },
      signal,
    );
    const events = page.events.flatMap((text) => parseEnvelope(text) ?? []);
    missing += await ingest.putMissing(events);
    pageToken = page.nextPageToken;
  }
  return missing;
}
