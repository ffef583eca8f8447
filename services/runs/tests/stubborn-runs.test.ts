import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { sql } from "@workflow/db";
import { AppError } from "@workflow/errors";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import type { SecretsClient } from "../src/secrets/resolve-secrets.ts";
import {
  delay,
  expression,
  forEach,
  mapping,
  resultsOf,
  startRunsHarness,
} from "./support/runs-harness.ts";
import type { RunsHarness } from "./support/runs-harness.ts";

const nothing = z.object({});
const taskRow = z.object({ attempts: z.number() });
const pauseRow = z.object({ attempts: z.number(), takeovers: z.number(), pauseMs: z.number() });

/** Has the database itself note each pause of a task, so that none passes unseen. */
async function logPauses(database: RunsHarness["database"]): Promise<void> {
  await database.query(sql.type(nothing)`
    create table runs.pause_log (
      run_id text not null, attempts integer not null, takeovers integer not null,
      pause_ms float8 not null
    )
  `);
  await database.query(sql.type(nothing)`
    create function runs.log_pause() returns trigger language plpgsql security definer as $$
    begin
      insert into runs.pause_log (run_id, attempts, takeovers, pause_ms)
      values (
        new.run_id, new.attempts, new.takeovers, extract(epoch from new.due_at - now()) * 1000
      );
      return null;
    end $$
  `);
  await database.query(sql.type(nothing)`
    create trigger log_pause after update on runs.tasks
    for each row when (new.attempts > old.attempts) execute function runs.log_pause()
  `);
}

let harness: RunsHarness;
beforeAll(async () => {
  harness = await startRunsHarness({ engineStatementTimeoutMs: 2_000 });
});
afterAll(() => harness.close());

async function countTries(runId: string, { database } = harness): Promise<number> {
  const task = await database.maybeOne(sql.type(taskRow)`
    select attempts from runs.tasks where run_id = ${runId}
  `);
  return task?.attempts ?? 0;
}

/** A run that waits, with one step done. */
async function suspend(on = harness): Promise<string> {
  const workflowId = await on.deploy([mapping("before", 1), delay("sleep", 3_600_000)]);
  const runId = await on.start(workflowId);
  await waitFor(async () => (await on.get(runId)).status === RunStatus.SUSPENDED);
  return runId;
}

/** Makes what a run has done unreadable to every worker. */
async function spoilHistory(runId: string): Promise<void> {
  await harness.database.query(sql.type(nothing)`
    update runs.step_results set error = '{"unreadable": true}' where run_id = ${runId}
  `);
}

/** Ends its wait as if another worker had executed it in between: this one remembers nothing of it. */
async function makeDue(runId: string, takeovers: number, { database } = harness): Promise<void> {
  await database.query(sql.type(nothing)`
    update runs.open_steps set due_at = now() where run_id = ${runId}
  `);
  await database.query(sql.type(nothing)`
    update runs.tasks set due_at = now(), takeovers = ${takeovers}, fence = fence + 1
    where run_id = ${runId}
  `);
}

describe("a run that can't be loaded", () => {
  it("is tried again and again, holds up no other run, and goes on when it can be", async () => {
    const runId = await suspend();
    await spoilHistory(runId);
    await makeDue(runId, 0);
    await waitFor(async () => (await countTries(runId)) >= 2, { timeoutMs: 60_000 });
    expect(await harness.runToEnd(await harness.deploy([mapping("a", 1)]))).toMatchObject({
      status: RunStatus.COMPLETED,
    });
    await harness.database.query(sql.type(nothing)`
      update runs.step_results set error = null where run_id = ${runId}
    `);
    expect(await harness.waitForEnd(runId)).toMatchObject({ status: RunStatus.COMPLETED });
  });

  it("fails without being loaded when its workers died again and again (D30)", async () => {
    const runId = await suspend();
    await spoilHistory(runId);
    await makeDue(runId, 6);
    const statusRow = z.object({ status: z.string(), code: z.string().nullable() });
    // Not by the API, which can't read its steps either.
    const ended = await waitFor(
      async () => {
        const row = await harness.database.one(sql.type(statusRow)`
          select status, error ->> 'code' as code from runs.runs where id = ${runId}
        `);
        return row.status === "failed" ? row : null;
      },
      { timeoutMs: 60_000 },
    );
    expect(ended.code).toBe("RUNTIME_ERROR");
  });
});

describe("a run whose secrets can't be had", () => {
  it("is tried again after pauses that grow, and goes on when they can be", async () => {
    let isAway = true;
    const secrets: SecretsClient = {
      resolve: (_companyId, _workflowId, keys) =>
        isAway
          ? Promise.reject(new AppError("UNAVAILABLE", "The integrations service is away."))
          : Promise.resolve(
              new Map([...keys].map((key) => [key, { value: "s3cret", allowedHosts: null }])),
            ),
      close: () => {},
    };
    const away = await startRunsHarness({ secrets });
    await logPauses(away.database);
    try {
      const workflowId = await away.deploy([mapping("a", "{{secrets.KEY}}")]);
      const runId = await away.start(workflowId);
      const tries = await waitFor(
        async () => {
          const pauses = await away.database.any(sql.type(pauseRow)`
            select attempts, takeovers, pause_ms as "pauseMs"
            from runs.pause_log where run_id = ${runId} order by attempts limit 3
          `);
          return pauses.length === 3 ? pauses : null;
        },
        { timeoutMs: 60_000 },
      );
      expect(tries).toEqual([
        { attempts: 1, takeovers: 0, pauseMs: 500 },
        { attempts: 2, takeovers: 0, pauseMs: 1_000 },
        { attempts: 3, takeovers: 0, pauseMs: 2_000 },
      ]);
      expect(await away.get(runId)).toMatchObject({ stepResults: [] });
      isAway = false;
      expect(await away.waitForEnd(runId)).toMatchObject({ status: RunStatus.COMPLETED });
      const left = await away.database.maybeOne(sql.type(taskRow)`
        select attempts from runs.tasks where run_id = ${runId}
      `);
      expect(left).toBe(null);
    } finally {
      await away.close();
    }
  });
});

describe("a run whose definition this version can't compile", () => {
  it("is left to a worker that can, and does not fail", async () => {
    const api = await startRunsHarness({ role: "api" });
    try {
      const workflowId = await api.deploy([mapping("a", 1)]);
      const runId = await api.start(workflowId);
      await api.database.query(sql.type(nothing)`
        update runs.deployments set steps = '[{"id": "a", "name": "a", "type": "newer"}]'
        where workflow_id = ${workflowId}
      `);
      const old = await api.startAnother("worker");
      await waitFor(
        async () => {
          const task = await api.database.one(sql.type(taskRow)`
            select attempts from runs.tasks where run_id = ${runId}
          `);
          return task.attempts >= 2;
        },
        { timeoutMs: 60_000 },
      );
      expect(await api.get(runId)).toMatchObject({ status: RunStatus.PENDING });
      await api.database.query(sql.type(nothing)`
        update runs.deployments
        set steps = '[{"id": "a", "name": "a", "type": "transform", "config": {"mapping": 1}}]'
        where workflow_id = ${workflowId}
      `);
      await old.stop();
      await api.startAnother("worker");
      expect(await api.waitForEnd(runId)).toMatchObject({ status: RunStatus.COMPLETED });
    } finally {
      await api.close();
    }
  });
});

describe("a run whose row somebody else has locked", () => {
  it("holds up no other run, and goes on when it can be had", async () => {
    // A short time limit: with the usual one loading waits for half a minute.
    const impatient = await startRunsHarness({
      statementTimeoutMs: 4_000,
      engineStatementTimeoutMs: 4_000,
    });
    const release = Promise.withResolvers<void>();
    try {
      const runId = await suspend(impatient);
      const other = await impatient.deploy([mapping("a", 1), expression("b", "1 + 1")]);
      const locked = Promise.withResolvers<void>();
      const locking = impatient.database.transaction(async (transaction) => {
        await transaction.query(sql.type(nothing)`
          set local idle_in_transaction_session_timeout = 0
        `);
        await transaction.query(sql.type(nothing)`
          select from runs.runs where id = ${runId} for update
        `);
        locked.resolve();
        await release.promise;
      });
      await locked.promise;
      // The task is claimed, and loading the run waits for the lock, over the time limit.
      await makeDue(runId, 0, impatient);
      for (let round = 0; round < 5; round += 1) {
        expect(await impatient.runToEnd(other)).toMatchObject({ status: RunStatus.COMPLETED });
      }
      await waitFor(async () => (await countTries(runId, impatient)) >= 1, { timeoutMs: 60_000 });
      release.resolve();
      await locking;
      expect(await impatient.waitForEnd(runId)).toMatchObject({ status: RunStatus.COMPLETED });
    } finally {
      release.resolve();
      await impatient.close();
    }
  });
});

describe("a restart inside a forEach of very many items", () => {
  it("with an input of few items forgets what the others did, within the time of a statement", async () => {
    const ITEMS = 10_000;
    const workflowId = await harness.deploy([
      forEach("par", "{{input.items}}", [mapping("first", 1), mapping("second", 2)]),
    ]);
    const items = Array.from({ length: ITEMS }, (_, index) => index);
    const original = await harness.start(workflowId, { items });
    await waitFor(
      async () => {
        const row = await harness.database.one(sql.type(z.object({ status: z.string() }))`
          select status from runs.runs where id = ${original}
        `);
        return row.status === "completed";
      },
      { timeoutMs: 100_000, what: "the original" },
    );
    const { identity } = harness;
    const { run } = await harness.runs.restartRun(
      {
        runId: original,
        fromStepId: "par[0].second",
        overrideInputJson: JSON.stringify({ items: [0] }),
      },
      { identity },
    );
    const restarted = await harness.waitForEnd(run?.id ?? "");
    expect(restarted.status).toBe(RunStatus.COMPLETED);
    expect(new Set(resultsOf(restarted).map(({ path }) => path))).toEqual(
      new Set(["par", "par[0].first", "par[0].second"]),
    );
  }, 180_000);
});
