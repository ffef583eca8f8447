import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Whether a Docker engine answers; having the command alone is not enough. */
export async function hasDocker(): Promise<boolean> {
  try {
    await promisify(execFile)("docker", ["info"], { timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}
