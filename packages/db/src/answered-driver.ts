import { createPgDriverFactory } from "@slonik/pg-driver";
import { BackendTerminatedUnexpectedlyError } from "slonik";
import type { DriverFactory } from "slonik";

type DriverClient = Awaited<ReturnType<Awaited<ReturnType<DriverFactory>>["createClient"]>>;

/**
 * slonik's driver for Postgres, with a limit for the answer to each query. By itself the driver waits for ever: the
 * server ends a statement in time, but of a server or a network that is gone without a word nobody hears, and a
 * connection whose last word was acknowledged has no time limit of the kernel's either.
 *
 * @param limitMs above the time that the server gives a statement; then the connection counts as lost
 */
export function createAnsweredDriver(limitMs: number): DriverFactory {
  const createDriver = createPgDriverFactory();
  return async (args) => {
    const driver = await createDriver(args);
    return { createClient: async () => limitAnswers(await driver.createClient(), limitMs) };
  };
}

function limitAnswers(client: DriverClient, limitMs: number): DriverClient {
  let loss: Error | undefined;
  return {
    ...client,
    query(...args) {
      // What follows on a lost connection, such as a rollback, need not be waited for.
      if (loss !== undefined) return Promise.reject(loss);
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          const cause = new Error(`The database did not answer within ${limitMs} ms.`);
          loss = new BackendTerminatedUnexpectedlyError(cause);
          reject(loss);
        }, limitMs);
        client
          .query(...args)
          .then(resolve, reject)
          .finally(() => clearTimeout(timer));
      });
    },
  };
}
