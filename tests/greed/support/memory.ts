import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** The most memory that was seen, in MiB. */
export interface Peaks {
  /** The one process of all services: what is resident. */
  service: number;
  /** Processes that it has started for expressions: what is resident, in sum. */
  children: number;
  /** Postgres: its own and its part of what its processes share. */
  postgres: number;
}

/** Looks at processes until it is told to stop. */
export interface MemoryWatch {
  /** The peaks since the last time; begins anew. */
  take(): Peaks;
  stop(): Promise<void>;
}

const LOOK_MS = 200;
/** Adding up what processes share takes the kernel some milliseconds each. */
const LOOKS_A_POSTGRES_LOOK = 10;

/** Watches a system that `npm start` has started, and its Postgres. */
export async function watchMemory(system: { pid: number; dataDir: string }): Promise<MemoryWatch> {
  const postmaster = Number(
    (await readFile(join(system.dataDir, "pgdata/postmaster.pid"), "utf8")).split("\n")[0],
  );
  let peaks: Peaks = { service: 0, children: 0, postgres: 0 };
  let stopped = false;
  let looks = 0;
  const look = async (): Promise<void> => {
    const parents = await readParents();
    const postgres = descendants(parents, postmaster);
    const isPostgres = new Set([postmaster, ...postgres]);
    const others = descendants(parents, system.pid).filter((pid) => !isPostgres.has(pid));
    peaks.service = Math.max(peaks.service, await sizeOf(system.pid, "status", "VmRSS"));
    peaks.children = Math.max(peaks.children, await sum(others, "status", "VmRSS"));
    if (looks % LOOKS_A_POSTGRES_LOOK === 0) {
      peaks.postgres = Math.max(peaks.postgres, await sum([...isPostgres], "smaps_rollup", "Pss"));
    }
    looks += 1;
  };
  const looking = (async () => {
    while (!stopped) {
      await look();
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  })();
  return {
    take() {
      const taken = peaks;
      peaks = { service: 0, children: 0, postgres: 0 };
      looks = 0;
      return taken;
    },
    async stop() {
      stopped = true;
      await looking;
    },
  };
}

async function readParents(): Promise<Map<number, number>> {
  const parents = new Map<number, number>();
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await read(`/proc/${name}/stat`);
    // The name of the program, in parentheses, may hold anything.
    const parent = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  return parents;
}

function descendants(parents: ReadonlyMap<number, number>, root: number): number[] {
  const children = [...parents].flatMap(([pid, parent]) => (parent === root ? [pid] : []));
  return children.flatMap((pid) => [pid, ...descendants(parents, pid)]);
}

async function sum(pids: readonly number[], file: string, field: string): Promise<number> {
  let total = 0;
  for (const pid of pids) total += await sizeOf(pid, file, field);
  return total;
}

/** A field of a file of the process, in MiB; 0 when it has ended or is not ours to look at. */
async function sizeOf(pid: number, file: string, field: string): Promise<number> {
  const text = await read(`/proc/${pid}/${file}`);
  const kib = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(text)?.[1];
  return Number(kib ?? 0) / 1024;
}

function read(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}
