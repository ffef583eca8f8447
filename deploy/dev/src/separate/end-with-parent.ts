/*
 * Loaded into each process before its own code: a process whose starter is gone, killed for instance, stops
 * as on SIGTERM, instead of going on with ports and a database that the next start needs.
 */
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
process.channel?.unref();
