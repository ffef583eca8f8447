import { findProvider, findProviderAction } from "@workflow/catalog";
import { isId } from "@workflow/db";
import type { Database } from "@workflow/db";
import { StepFailureError } from "../actions/action-failure.ts";
import { CONNECTION_ID_PREFIX } from "../connections/connection-key.ts";
import { findConnection } from "../store/connections.ts";
import type { MailConnection } from "./connection-way.ts";
import { MAILERS } from "./mailers/index.ts";

/**
 * The connection for a message: the step's, which must belong to an e-mail provider, else the run's if
 * it does. Null means the mail server. A company's only connection is never chosen by itself: the
 * sender of a message must not be a guess (ADR 38).
 *
 * @throws StepFailureError CONNECTION_NOT_FOUND, CONNECTION_MISMATCH
 */
export async function findMailConnection(
  database: Database,
  companyId: string,
  named: { step: string | undefined; run: string | undefined },
): Promise<MailConnection | null> {
  const connectionId = named.step ?? named.run;
  if (connectionId === undefined) return null;
  const row = isId(CONNECTION_ID_PREFIX, connectionId)
    ? await findConnection(database, { companyId, connectionId })
    : null;
  if (row === null) throw notFound(connectionId);
  const mailer = MAILERS.get(row.provider);
  const found = mailer === undefined ? undefined : findProviderAction(mailer.action);
  if (mailer !== undefined && found !== undefined) return { connectionId, mailer, ...found };
  if (named.step === undefined) return null;
  throw sendsNoMail(connectionId, row);
}

function notFound(connectionId: string): StepFailureError {
  return new StepFailureError({
    code: "CONNECTION_NOT_FOUND",
    message: "The connection that is named does not exist, or not any more.",
    details: { connectionId },
  });
}

function sendsNoMail(
  connectionId: string,
  { name, provider }: { name: string; provider: string },
): StepFailureError {
  const providers = [...MAILERS.keys()];
  const is = findProvider(provider)?.name ?? provider;
  return new StepFailureError({
    code: "CONNECTION_MISMATCH",
    message: `The connection ${name} is one of ${is}; e-mail goes through one of ${providers.join(", ")}.`,
    details: { providers, connectionId, connectionProvider: provider },
  });
}
