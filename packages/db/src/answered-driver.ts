import { createPgDriverFactory } from "@slonik/pg-driver";
import { BackendTerminatedUnexpectedlyError } from "slonik";
import type { DriverFactory } from "slonik";

type DriverClient = Awaited<ReturnType<Awaited<ReturnType<DriverFactory>>["createClient"]>>;

/**
 * slonik's driver for Postgres, with a limit for the answer to each query. By itself the driver
 * waits for ever when a server or network disappears silently. A connection whose last message was
 * acknowledged has no time limit in the kernel either.
 *
 * @param limitMs longer than the server's statement timeout; after it the connection counts as lost
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
      // Statements on a lost connection, such as a rollback, are not awaited.
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
