/** The reason of a lease's signal when its worker stops and gives the lease back. */
export class WorkerStopped extends Error {
  override readonly name = "WorkerStopped";

  constructor() {
    super("The worker stops.");
  }
}
