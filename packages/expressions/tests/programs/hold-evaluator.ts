import { createExpressionPool } from "@workflow/expressions";

/** Holds a process that evaluates without end, until this one is killed. */
const pool = createExpressionPool({ processes: 1, timeoutMs: 600_000 });
await pool.evaluate("a", "1", "{}");
void pool.evaluate("a", "($f := function($n) { $f($n + 1) }; $f(0))", "{}");
setTimeout(() => process.stdout.write("running\n"), 100);
