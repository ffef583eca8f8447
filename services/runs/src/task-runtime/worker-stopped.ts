/** Why the signal of a lease is aborted that nobody has taken away: its worker stops and gives it back. */
export class WorkerStopped extends Error {
  override readonly name = "WorkerStopped";

  constructor() {
    super("The worker stops.");
  }
}
