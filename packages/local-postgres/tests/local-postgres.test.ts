import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFile,
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import type { LocalPostgres } from "@workflow/local-postgres";
import { findLocalPostgres, startLocalPostgres } from "@workflow/local-postgres";
import { waitFor } from "@workflow/testkit";
import { Client } from "pg";

const run = promisify(execFile);
/** What only root can meet is reported as skipped where the tests run as somebody else. */
const itAsRoot = process.getuid?.() === 0 ? it : it.skip;

let made: string;
let folder: string;
let dataDir: string;
let running: LocalPostgres[];

beforeAll(async () => {
  made = await mkdtemp(join(tmpdir(), "local-postgres-made-"));
  await (await startLocalPostgres({ dataDir: made, durable: false })).stop();
});

afterAll(async () => {
  await rm(made, { recursive: true, force: true });
});

/** Most tests begin with a cluster that was made before; copying one is faster. */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "local-postgres-"));
  dataDir = join(folder, "data");
  await run("cp", ["-Rp", made, dataDir]);
  running = [];
});

afterEach(async () => {
  await Promise.all(running.map((server) => server.stop()));
  await rm(folder, { recursive: true, force: true });
});

async function start(options: { durable?: boolean; port?: number } = {}): Promise<LocalPostgres> {
  const server = await startLocalPostgres({ dataDir, durable: false, ...options });
  running.push(server);
  return server;
}

async function query(connectionUri: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: connectionUri });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

/** A process of its own that runs a server of the same data folder. */
async function startElsewhere(): Promise<{
  pid: number;
  connectionUri: string;
  kill(): Promise<void>;
}> {
  const script = join(import.meta.dirname, "hold-server.ts");
  const child = spawn(process.execPath, [script, dataDir], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const [line] = await once(createInterface(child.stdout), "line");
  return {
    pid: child.pid ?? -1,
    connectionUri: String(line),
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

describe("startLocalPostgres", () => {
  it("makes a cluster that sorts by code point and knows ICU collations by name", async () => {
    dataDir = join(folder, "new");
    const server = await start({ durable: true });
    const rows = await query(
      server.connectionUri,
      `select 'ä' > 'z' as by_code_point, 'ä' < 'z' collate "und-x-icu" as by_language,
              current_setting('server_encoding') as encoding, current_setting('fsync') as fsync,
              current_setting('listen_addresses') as addresses`,
    );
    expect(rows).toEqual([
      {
        by_code_point: true,
        by_language: true,
        encoding: "UTF8",
        fsync: "on",
        addresses: "127.0.0.1",
      },
    ]);
    expect((await stat(join(dataDir, "postgres.json"))).mode & 0o777).toBe(0o600);
  });

  it("lets nobody in without the password", async () => {
    const server = await start();
    const uri = new URL(server.connectionUri);
    uri.password = "guess";
    await expect(query(uri.toString(), "select 1")).rejects.toMatchObject({ code: "28P01" });
  });

  it("is spoken to over a socket in a private folder, which goes with it", async () => {
    const server = await start();
    const socketFolder = decodeURIComponent(new URL(server.connectionUri).hostname);
    expect((await stat(socketFolder)).mode & 0o777).toBe(0o700);
    await server.stop();
    await expect(stat(socketFolder)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("does without the socket when others can look into its folder", async () => {
    const first = await start();
    const socketFolder = decodeURIComponent(new URL(first.connectionUri).hostname);
    await first.stop();
    await mkdir(socketFolder);
    await chmod(socketFolder, 0o755);
    try {
      const second = await start();
      expect(new URL(second.connectionUri).hostname).toBe("127.0.0.1");
      await second.stop();
    } finally {
      await rm(socketFolder, { recursive: true });
    }
  });

  it("finds its data and keeps its port after a stop", async () => {
    const first = await start();
    await query(first.connectionUri, "create table kept (id integer)");
    await first.stop();
    await expect(first.exited).resolves.toEqual({ code: 0, signal: null });
    const second = await start();
    expect(second.port).toBe(first.port);
    await expect(query(second.connectionUri, "select from kept")).resolves.toEqual([]);
  });

  it("goes to another port when somebody has taken its own", async () => {
    const first = await start();
    await first.stop();
    const occupant = createServer().listen(first.port, "127.0.0.1");
    await once(occupant, "listening");
    const second = await start();
    expect(second.port).not.toBe(first.port);
    await expect(findLocalPostgres(dataDir)).resolves.toEqual({
      connectionUri: second.connectionUri,
    });
    occupant.close();
  });

  it("stays at its address when it has to, though somebody has taken its port", async () => {
    const first = await start();
    process.kill(first.pid, "SIGKILL");
    await first.exited;
    const occupant = createServer().listen(first.port, "127.0.0.1");
    await once(occupant, "listening");
    const second = await start({ port: first.port });
    expect(second.connectionUri).toBe(first.connectionUri);
    await expect(query(second.connectionUri, "select 1 as one")).resolves.toEqual([{ one: 1 }]);
    occupant.close();
  });

  it("ends with the process that started it, also when that one is killed", async () => {
    const elsewhere = await startElsewhere();
    await elsewhere.kill();
    await waitFor(async () => (await findLocalPostgres(dataDir)) === null);
  });

  it("starts with all committed data right after its owner was killed", async () => {
    const elsewhere = await startElsewhere();
    await query(elsewhere.connectionUri, "create table kept (id integer)");
    await elsewhere.kill();
    const server = await start();
    await expect(query(server.connectionUri, "select from kept")).resolves.toEqual([]);
  });

  it("replaces a server that still runs", async () => {
    const elsewhere = await startElsewhere();
    const server = await start();
    await expect(query(server.connectionUri, "select 1 as one")).resolves.toEqual([{ one: 1 }]);
    await elsewhere.kill();
  });

  it("recovers all committed data when the server itself was killed", async () => {
    const first = await start({ durable: true });
    await query(first.connectionUri, "create table kept (id integer)");
    process.kill(first.pid, "SIGKILL");
    await expect(first.exited).resolves.toEqual({ code: null, signal: "SIGKILL" });
    const second = await start();
    await expect(query(second.connectionUri, "select from kept")).resolves.toEqual([]);
  });

  it("is not misled by a pid file whose number now belongs to another program", async () => {
    const first = await start();
    await first.stop();
    const stale = `${process.pid}\n${join(dataDir, "pgdata")}\n1\n${first.port}\n\n127.0.0.1\n`;
    await writeFile(join(dataDir, "pgdata", "postmaster.pid"), stale);
    await expect(findLocalPostgres(dataDir)).resolves.toBeNull();
    await start();
  });

  it("starts over when making the cluster was cut short", async () => {
    dataDir = join(folder, "new");
    await mkdir(join(dataDir, "pgdata.new-cut", "base"), { recursive: true });
    await writeFile(join(dataDir, "postgres.json"), `{"port": null, "password": "old"}`);
    const server = await start();
    await expect(query(server.connectionUri, "select 1 as one")).resolves.toEqual([{ one: 1 }]);
    expect((await readdir(dataDir)).toSorted()).toEqual([
      "pgdata",
      "postgres.json",
      "postgres.log",
    ]);
  });

  it("says so when the password of an existing cluster is lost", async () => {
    await rm(join(dataDir, "postgres.json"));
    await expect(start()).rejects.toThrow("postgres.json is missing or damaged");
  });

  it("fails with the server's own words when the server does not start", async () => {
    await appendFile(join(dataDir, "pgdata", "postgresql.conf"), "no_such_setting = 1\n");
    await expect(start()).rejects.toThrow(/unrecognized configuration parameter "no_such_setting"/);
  });

  it("gives up when told to", async () => {
    const failure = startLocalPostgres({ dataDir, signal: AbortSignal.abort(new Error("enough")) });
    await expect(failure).rejects.toThrow("enough");
    await expect(findLocalPostgres(dataDir)).resolves.toBeNull();
  });

  itAsRoot("takes over a cluster that root has copied back from a backup", async () => {
    const copy = join(folder, "copy");
    await cp(dataDir, copy, { recursive: true });
    expect((await stat(join(copy, "pgdata"))).uid).toBe(0);
    dataDir = copy;
    const server = await start();
    await expect(query(server.connectionUri, "select 1 as one")).resolves.toEqual([{ one: 1 }]);
  });

  itAsRoot("runs for root, as another user, below a folder that only root may enter", async () => {
    dataDir = join(folder, "new");
    await chmod(folder, 0o700);
    const server = await start();
    const status = await readFile(`/proc/${server.pid}/status`, "utf8");
    expect(status).not.toMatch(/^Uid:\s+0\s/m);
    // It needs no right to pass the folder, so it has none.
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapAmb"]) {
      expect(status).toMatch(new RegExp(`^${set}:\\s+0+$`, "m"));
    }
    await expect(findLocalPostgres(dataDir)).resolves.toEqual({
      connectionUri: server.connectionUri,
    });
    await expect(query(server.connectionUri, "select 1 as one")).resolves.toEqual([{ one: 1 }]);
  });
});

describe("findLocalPostgres", () => {
  it("finds the running server, and nothing where there is none", async () => {
    await expect(findLocalPostgres(join(folder, "none"))).resolves.toBeNull();
    const server = await start();
    await expect(findLocalPostgres(dataDir)).resolves.toEqual({
      connectionUri: server.connectionUri,
    });
    await server.stop();
    await expect(findLocalPostgres(dataDir)).resolves.toBeNull();
  });
});
