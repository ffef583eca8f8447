/*
 * Loaded into each process before its own code. A process whose starter is gone stops as on SIGTERM, and frees the
 * ports and database that the next start needs.
 */
process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
process.channel?.unref();
