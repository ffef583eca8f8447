import { startLocalPostgres } from "@workflow/local-postgres";

/** Starts a server, tells its address and stays, for a test to kill. */
const server = await startLocalPostgres({ dataDir: process.argv[2] ?? "", durable: false });
process.stdout.write(`${server.connectionUri}\n`);
process.stdin.resume();
