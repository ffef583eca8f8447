import { readFile } from "node:fs/promises";
import { afterEach, describe, expect, it } from "@jest/globals";
import { createExpressionPool } from "@workflow/expressions";
import type { ExpressionPool, ExpressionPoolOptions } from "@workflow/expressions";
import { waitFor } from "@workflow/testkit";
import { Registry } from "prom-client";

/** A tail call, which needs no stack and so never ends by itself. */
const ENDLESS = "($f := function($n) { $f($n + 1) }; $f(0))";
/** Needs more than any heap here has. */
const BOMB = '$split($pad("", 40000000, "ab"), "")';
/** So much time that memory is what ends first, on a machine under any load. */
const PATIENT = { processes: 1, timeoutMs: 25_000 };

/** Takes half a second or more. */
const SLOW = '($f := function($n) { $n = 0 ? "end" : $f($n - 1) }; $f(200000))';

/** The process ids of this process's evaluators. */
async function listEvaluators(): Promise<number[]> {
  const children = await readFile(`/proc/${process.pid}/task/${process.pid}/children`, "utf8");
  const pids = children.split(" ").map(Number).filter(Boolean);
  const commands = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")),
  );
  return pids.filter((_, index) => commands[index]?.includes("--permission"));
}

/** Kills them once there are any, as the system does when it is short of memory. */
async function killEvaluators(): Promise<number[]> {
  const pids = await waitFor(async () => {
    const found = await listEvaluators();
    expect(found).not.toEqual([]);
    return found;
  });
  for (const pid of pids) process.kill(pid, "SIGKILL");
  return pids;
}

const pools: ExpressionPool[] = [];
const openPool = (options: ExpressionPoolOptions = {}): ExpressionPool => {
  const pool = createExpressionPool(options);
  pools.push(pool);
  return pool;
};
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

describe("an expression", () => {
  it.each([
    ["1 + $error($pad('', 70000, 'x'))", /^The expression failed at character 11: x{65000}/],
    ['1 + "a"', /^The expression failed at character 3: The right side/],
    ["(", /^The expression failed at character 1: /],
  ])("that fails says where first, so that no cut takes it away: %s", async (source, message) => {
    await expect(openPool().evaluate("a", source, "{}")).rejects.toMatchObject({
      code: "EXPRESSION_FAILED",
      message: expect.stringMatching(message),
    });
  });

  it.each([
    ["function($x){ $x }", "null"],
    ["$string", "null"],
    ["[1, $string, function($x){ doc }]", "[1,null,null]"],
    ["{'a': 1, 'f': $string, 'g': function(){ doc }}", '{"a":1}'],
  ])("that gives a function gives what JSON has for it: %s", async (source, result) => {
    expect(await openPool().evaluate("a", source, '{"doc":1}')).toBe(result);
  });

  it("that fills its memory ends with EXPRESSION_MEMORY, and those sent along with it do not", async () => {
    const pool = openPool(PATIENT);
    const bomb = pool.evaluate("a", BOMB, "{}");
    const others = Array.from({ length: 8 }, (_, n) => pool.evaluate("a", "n", `{"n":${n}}`));
    await expect(bomb).rejects.toMatchObject({ code: "EXPRESSION_MEMORY" });
    expect(await Promise.all(others)).toEqual(others.map((_, index) => String(index)));
  });

  it("is not charged for the time in which the machine lets it wait", async () => {
    const pool = openPool({ processes: 1, timeoutMs: 2_000 });
    expect(await pool.evaluate("a", "1", "{}")).toBe("1");
    const stopped = await listEvaluators();
    const waiting = pool.evaluate("a", "1 + 1", "{}");
    for (const pid of stopped) process.kill(pid, "SIGSTOP");
    // Another one computes for longer than the limit meanwhile.
    const endless = openPool({ processes: 1, timeoutMs: 3_000 }).evaluate("a", ENDLESS, "{}");
    await expect(endless).rejects.toMatchObject({ code: "EXPRESSION_TIMEOUT" });
    for (const pid of stopped) process.kill(pid, "SIGCONT");
    expect(await waiting).toBe("2");
  });

  it("that is given up, or whose pool is closed, is rejected at once", async () => {
    const pool = openPool(PATIENT);
    const giveUp = new AbortController();
    const first = pool.evaluate("a", ENDLESS, "{}", giveUp.signal);
    const second = pool.evaluate("a", ENDLESS, "{}");
    giveUp.abort();
    await expect(first).rejects.toMatchObject({ code: "ABORTED" });
    await expect(pool.evaluate("a", "1", "{}", giveUp.signal)).rejects.toMatchObject({
      code: "ABORTED",
    });
    const closing = pool.close();
    await expect(second).rejects.toMatchObject({ code: "ABORTED" });
    await closing;
    await expect(pool.evaluate("a", "1", "{}")).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("that was given up while it ran does not keep its process from the others", async () => {
    const pool = openPool({ processes: 1, timeoutMs: 600_000 });
    const giveUp = new AbortController();
    const hostile = pool.evaluate("a", ENDLESS, "{}", giveUp.signal);
    const other = pool.evaluate("a", "1 + 1", "{}");
    giveUp.abort();
    await expect(hostile).rejects.toMatchObject({ code: "ABORTED" });
    expect(await other).toBe("2");
  });

  it("whose document is larger than any process could take is refused", async () => {
    const pool = openPool({ inputCharsMax: 100 });
    await expect(pool.evaluate("a", "1", `"${"x".repeat(100)}"`)).rejects.toMatchObject({
      code: "EXPRESSION_MEMORY",
    });
  });

  it("tells its whole error, up to 64 KiB, so that what is secret in it can be found", async () => {
    const pool = openPool();
    const failure = pool.evaluate("a", '$error($pad("", 5000, "secret"))', "{}");
    await expect(failure).rejects.toThrow("secret".repeat(833));
    const endless = pool.evaluate("a", '$error($pad("", 500000, "x"))', "{}");
    const { message } = await endless.then(
      () => ({ message: "" }),
      (error: Error) => error,
    );
    expect(message).toHaveLength(65_536);
  });

  it("has the same time zone everywhere", async () => {
    const pool = openPool();
    expect(await pool.evaluate("a", "$toMillis('2026-06-01T12:00:00')", "{}")).toBe(
      String(Date.UTC(2026, 5, 1, 12)),
    );
  });
});

describe("the turns between companies", () => {
  it("let one company's expression through while 30 hostile ones of another wait", async () => {
    const pool = openPool({ timeoutMs: 600_000 });
    const hostile = Array.from({ length: 30 }, () => pool.evaluate("hostile", ENDLESS, "{}"));
    const ended = Promise.all(hostile.map((each) => each.catch(() => "ended")));
    // None of the hostile ones ends before the pool does: only turns can bring this through.
    expect(await pool.evaluate("good", "1 + 1", "{}")).toBe("2");
    expect(await pool.evaluate("third", "2 + 2", "{}")).toBe("4");
    await pool.close();
    expect(await ended).toEqual(hostile.map(() => "ended"));
  });

  it("let expressions of one company pass a slow one that they were sent along with", async () => {
    const pool = openPool({ processes: 2, timeoutMs: 600_000 });
    const slow = pool.evaluate("a", ENDLESS, "{}").catch(() => "ended");
    const others = Array.from({ length: 40 }, (_, n) => pool.evaluate("a", "n", `{"n":${n}}`));
    expect(await Promise.all(others)).toEqual(others.map((_, n) => String(n)));
    await pool.close();
    expect(await slow).toBe("ended");
  });

  it("refuse what is beyond a company's queue, count it, and leave other companies theirs", async () => {
    const metricsRegistry = new Registry();
    const pool = openPool({
      processes: 1,
      metricsRegistry,
      queueLimits: { companyJobsMax: 5, companyCharsMax: 10_000, charsMax: 100_000 },
    });
    const many = Array.from({ length: 8 }, () => pool.evaluate("a", "1", "{}"));
    const outcomes = await Promise.allSettled(many);
    const reasons = outcomes.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    expect(reasons).toHaveLength(3);
    expect(reasons[0]).toMatchObject({ code: "EXPRESSION_QUEUE_FULL", retryable: true });
    expect(await metricsRegistry.metrics()).toContain("expressions_refused_total 3");
    const large = `"${"x".repeat(9_000)}"`;
    const [first, second, other] = await Promise.allSettled([
      pool.evaluate("a", "$length($)", large),
      pool.evaluate("a", "$length($)", large),
      pool.evaluate("b", "$length($)", large),
    ]);
    expect([first.status, second.status, other.status]).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
  });
});

describe("a process that others have used", () => {
  it("does not fail one company for what another one's expressions left in it", async () => {
    const pool = openPool({ ...PATIENT, memoryMiB: 40 });
    // Each compiles to some megabytes.
    for (let index = 0; index < 30; index += 1) {
      const text = `[${`{"k":[${index}]},`.repeat(1_200)}1]`;
      expect(await pool.evaluate("a", `$count(${text})`, "{}")).toBe("1201");
    }
    expect(await pool.evaluate("b", "$count([1..100000])", "{}")).toBe("100000");
  });

  it("and that dies gives its expression one more try, alone in a new process", async () => {
    const pool = openPool(PATIENT);
    expect(await pool.evaluate("a", "1", "{}")).toBe("1");
    const slow = pool.evaluate("b", SLOW, "{}");
    await killEvaluators();
    expect(await slow).toBe('"end"');
    await expect(pool.evaluate("a", BOMB, "{}")).rejects.toMatchObject({
      code: "EXPRESSION_MEMORY",
    });
    expect(await pool.evaluate("b", "2", "{}")).toBe("2");
  });

  it("and that dies a second time, having been used by nobody else, fails its expression", async () => {
    const pool = openPool(PATIENT);
    expect(await pool.evaluate("a", "1", "{}")).toBe("1");
    const slow = pool.evaluate("b", ENDLESS, "{}");
    const failure = expect(slow).rejects.toMatchObject({ code: "EXPRESSION_MEMORY" });
    const [first] = await killEvaluators();
    await waitFor(async () => expect(await listEvaluators()).not.toEqual([first]));
    await killEvaluators();
    await failure;
  });
});

describe("parsing", () => {
  it("tells what an expression reads from the top", async () => {
    const pool = openPool();
    expect(
      await pool.parse("a", "steps.a.output + $sum(input.list.(price * $$.run.version))"),
    ).toEqual({
      ok: true,
      paths: expect.arrayContaining([
        ["steps", "a", "output"],
        ["input", "list"],
        ["run", "version"],
      ]),
    });
  });

  it.each([
    ["1 +", "is not valid JSONata at character"],
    ["(".repeat(16_000), "is not valid JSONata: it nests too deeply"],
  ])("tells why %.10s is none", async (text, message) => {
    const pool = openPool();
    expect(await pool.parse("a", text)).toMatchObject({
      ok: false,
      message: expect.stringContaining(message),
    });
  });
});
