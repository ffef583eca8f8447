import { spawn } from "node:child_process";
import { tryLockFile } from "@workflow/local-postgres";

/** Takes a lock, starts a child that outlives this process, tells both numbers and stays. */
const lock = tryLockFile(process.argv[2] ?? "");
if (lock === null) throw new Error("Somebody else has the lock.");
const child = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
process.stdout.write(`${process.pid} ${child.pid}\n`);
process.stdin.resume();
