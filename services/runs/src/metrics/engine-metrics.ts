import { counterIn, gaugeIn, histogramIn } from "@workflow/service";
import type { Gauge, Registry } from "prom-client";
import type { RunObserver } from "../engine/run-observer.ts";
import type { StepObserver } from "../interpreter/step-observer.ts";
import type { JournalObserver } from "../journal/journal-observer.ts";
import type { SlotUse, WorkerObserver } from "../task-runtime/worker-observer.ts";

/** The metrics of this process's engine. Figures that need queries are in `figures.ts`. */
export interface EngineMetrics extends WorkerObserver, JournalObserver, StepObserver, RunObserver {}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** From a template to a person who decides. */
const STEP_SECONDS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 3_600, 86_400];
const ENTRIES = [1, 2, 5, 10, 25, 50, 100, 250];
const KIB = 1024;
const BYTES = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384].map((kib) => kib * KIB);

/** Registers the metrics; services that share a registry share them. */
export function createEngineMetrics(registry: Registry): EngineMetrics {
  return { ...workerMetrics(registry), ...journalMetrics(registry), ...runMetrics(registry) };
}

function workerMetrics(registry: Registry): WorkerObserver {
  const claims = counterIn(registry, {
    name: "runs_claims_total",
    help: "Claims that took tasks.",
  });
  const claimed = counterIn(registry, {
    name: "runs_claimed_tasks_total",
    help: "Tasks that claims have taken.",
  });
  const handedOver = counterIn(registry, {
    name: "runs_handed_over_tasks_total",
    help: "Tasks that were executed where they were stored, without a claim.",
  });
  const takenOver = counterIn(registry, {
    name: "runs_takeovers_total",
    help: "Claims of tasks whose worker was lost before they made progress (D30).",
  });
  return {
    claimed(tasks, fromLost) {
      claims.inc();
      claimed.inc(tasks);
      takenOver.inc(fromLost);
    },
    handedOver: (tasks) => handedOver.inc(tasks),
    watchSlots: slotGauges(registry),
  };
}

function journalMetrics(registry: Registry): JournalObserver {
  const journalSeconds = histogramIn(registry, {
    name: "runs_journal_write_duration_seconds",
    help: "Time that batches of checkpoints took to be written, tries that failed included.",
    buckets: SECONDS,
  });
  const journalEntries = histogramIn(registry, {
    name: "runs_journal_batch_entries",
    help: "Checkpoints of a batch.",
    buckets: ENTRIES,
  });
  const journalBytes = histogramIn(registry, {
    name: "runs_journal_batch_bytes",
    help: "Documents of a batch of checkpoints, about.",
    buckets: BYTES,
  });
  return {
    batchWritten({ entries, bytes, ms }) {
      journalSeconds.observe(ms / 1000);
      journalEntries.observe(entries);
      journalBytes.observe(bytes);
    },
  };
}

function runMetrics(registry: Registry): StepObserver & RunObserver {
  const stepSeconds = histogramIn(registry, {
    name: "runs_step_duration_seconds",
    help: "Time from the beginning of steps to their end, with retries and waits.",
    labelNames: ["type", "status"],
    buckets: STEP_SECONDS,
  });
  const ended = counterIn(registry, {
    name: "runs_ended_total",
    help: "Runs that have ended, by status and by what started them.",
    labelNames: ["status", "trigger"],
  });
  const runSeconds = histogramIn(registry, {
    name: "runs_duration_seconds",
    help: "Time from the beginning of runs to their end, with waits.",
    buckets: STEP_SECONDS,
  });
  return {
    stepEnded: (type, status, ms) => stepSeconds.observe({ type, status }, ms / 1000),
    runEnded({ run: { status, startedAt, completedAt }, ended: run }) {
      if (run !== null) ended.inc({ status, trigger: run.triggerType });
      if (startedAt === null || completedAt === null) return;
      runSeconds.observe((completedAt.getTime() - startedAt.getTime()) / 1000);
    },
  };
}

const lookersByRegistry = new WeakMap<Registry, Set<() => SlotUse>>();

/** The gauges are computed at each scrape, in time proportional to the companies with slots. */
function slotGauges(registry: Registry): WorkerObserver["watchSlots"] {
  const known = lookersByRegistry.get(registry);
  const lookers = known ?? new Set<() => SlotUse>();
  lookersByRegistry.set(registry, lookers);
  if (known === undefined) {
    const show = (name: string, help: string, valueOf: (uses: SlotUse[]) => number): void => {
      gaugeIn(registry, {
        name,
        help,
        collect(this: Gauge) {
          this.set(valueOf(Array.from(lookers, (look) => look())));
        },
      });
    };
    show("runs_worker_slots", "Runs that this process may execute at a time.", (uses) =>
      sum(uses.map(({ slots }) => slots)),
    );
    show("runs_worker_slots_taken", "Runs that this process executes.", (uses) =>
      sum(uses.map(({ taken }) => taken)),
    );
    show("runs_worker_companies", "Companies that have slots of this process.", (uses) =>
      sum(uses.map(({ companies }) => companies)),
    );
    show(
      "runs_worker_slots_of_largest_company",
      "Slots of this process that the company with most of them has (D57).",
      (uses) => Math.max(0, ...uses.map(({ largest }) => largest)),
    );
  }
  return (look) => {
    lookers.add(look);
    return () => lookers.delete(look);
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
