import { findProvider } from "@workflow/catalog";
import type { ProviderManifest } from "@workflow/catalog";
import type { Database } from "@workflow/db";
import { isAppError } from "@workflow/errors";
import type { ConnectionAccessCache } from "../connections/access.ts";
import { CONNECTION_ID_PREFIX } from "../connections/connection-key.ts";
import type { OpenConnection } from "../connections/open-connection.ts";
import { LIVE_STATUSES } from "../domain/connection-states.ts";
import { isId } from "@workflow/db";
import { listActiveConnections } from "../store/active-connections.ts";
import { findConnection } from "../store/connections.ts";
import { StepFailureError } from "./action-failure.ts";

/** The dependencies of the choice. */
export interface ChoosingContext {
  database: Database;
  access: ConnectionAccessCache;
}

/** The ids that a step and its run name; undefined when they name none. */
export interface NamedConnections {
  step: string | undefined;
  run: string | undefined;
}

/** An active connection and its provider. */
export interface ChosenConnection {
  provider: ProviderManifest;
  connection: OpenConnection;
}

const LIVE: readonly string[] = LIVE_STATUSES;

/** The number of candidates that an error names. */
const CANDIDATES_SHOWN = 10;

/**
 * The connection of a step. The step's own choice counts first, then the run's if the provider matches,
 * then the company's only active connection. A cached connection costs no query.
 *
 * @param providerId undefined: that of the connection, which must be named then
 * @throws StepFailureError CONNECTION_REQUIRED, CONNECTION_NOT_FOUND, CONNECTION_MISMATCH or
 * CONNECTION_NOT_ACTIVE
 */
export async function chooseConnection(
  context: ChoosingContext,
  companyId: string,
  providerId: string | undefined,
  named: NamedConnections,
): Promise<ChosenConnection> {
  if (named.step !== undefined) {
    const found = await findNamed(context, companyId, named.step);
    if (providerId !== undefined && found.provider.id !== providerId) {
      throw mismatch(found, providerId);
    }
    return requireActive(found);
  }
  if (named.run !== undefined) {
    const found = await findOfRun(context, companyId, named.run, providerId);
    if (found !== null) return requireActive(found);
  }
  const provider = providerId === undefined ? undefined : findProvider(providerId);
  if (provider === undefined) throw providerUnknown(providerId);
  return requireActive(await findOnlyOne(context, companyId, provider));
}

/**
 * The run's connection; null when it belongs to another provider. A run names one connection, but may
 * use several providers.
 */
async function findOfRun(
  context: ChoosingContext,
  companyId: string,
  connectionId: string,
  providerId: string | undefined,
): Promise<ChosenConnection | null> {
  try {
    const found = await findNamed(context, companyId, connectionId);
    return providerId === undefined || found.provider.id === providerId ? found : null;
  } catch (error) {
    if (!(error instanceof StepFailureError)) throw error;
    if (error.failure.code !== "CONNECTION_UNAVAILABLE") throw error;
    // The credentials can't be renewed now. A step of another provider does not need them.
    const row = await findConnection(context.database, { companyId, connectionId });
    if (providerId !== undefined && row !== null && row.provider !== providerId) return null;
    throw error;
  }
}

async function findNamed(
  { access }: ChoosingContext,
  companyId: string,
  connectionId: string,
): Promise<ChosenConnection> {
  if (!isId(CONNECTION_ID_PREFIX, connectionId)) throw notFound(connectionId);
  try {
    const connection = await access.getAccess(companyId, connectionId);
    const provider = findProvider(connection.provider);
    if (provider === undefined) throw providerUnknown(connection.provider);
    return { provider, connection };
  } catch (error) {
    if (!isAppError(error)) throw error;
    if (error.reason === "NOT_FOUND") throw notFound(connectionId);
    if (error.reason === "UPSTREAM_ERROR") throw notRenewed(connectionId, error.message);
    throw error;
  }
}

async function findOnlyOne(
  context: ChoosingContext,
  companyId: string,
  provider: ProviderManifest,
): Promise<ChosenConnection> {
  const candidates = await listActiveConnections(
    context.database,
    { companyId, provider: provider.id },
    CANDIDATES_SHOWN + 1,
  );
  const [only, ...others] = candidates;
  if (only !== undefined && others.length === 0) return findNamed(context, companyId, only.id);
  const shown = candidates.slice(0, CANDIDATES_SHOWN);
  const names = shown.map(({ id, name }) => `${name} (${id})`).join(", ");
  const more = candidates.length > CANDIDATES_SHOWN ? " and more" : "";
  throw new StepFailureError({
    code: "CONNECTION_REQUIRED",
    message:
      only === undefined
        ? `The company has no active connection of ${provider.name}.`
        : `Several connections of ${provider.name} are active: ${names}${more}. Name one in connectionId.`,
    details: { provider: provider.id, candidates: shown },
  });
}

function requireActive(chosen: ChosenConnection): ChosenConnection {
  const { provider, connection } = chosen;
  if (connection.status === "active") return chosen;
  const { connectionId, status, name } = connection;
  // For steps an ended connection does not exist. It is kept only for another authorization.
  if (!LIVE.includes(status)) throw notFound(connectionId);
  const reason = connection.errorMessage === null ? "" : `: ${connection.errorMessage}`;
  throw new StepFailureError({
    code: "CONNECTION_NOT_ACTIVE",
    message: `The connection ${name} of ${provider.name} is ${status}${reason}`,
    details: { provider: provider.id, connectionId, status },
  });
}

/** The failure of a step whose connection does not exist or was deleted meanwhile. */
export function notFound(connectionId: string): StepFailureError {
  return new StepFailureError({
    code: "CONNECTION_NOT_FOUND",
    message: "The connection that is named does not exist, or not any more.",
    details: { connectionId },
  });
}

function mismatch({ provider, connection }: ChosenConnection, wanted: string): StepFailureError {
  const wantedName = findProvider(wanted)?.name ?? wanted;
  return new StepFailureError({
    code: "CONNECTION_MISMATCH",
    message: `The connection ${connection.name} is one of ${provider.name}, not of ${wantedName}.`,
    details: {
      provider: wanted,
      connectionId: connection.connectionId,
      connectionProvider: provider.id,
    },
  });
}

function providerUnknown(providerId: string | undefined): StepFailureError {
  return new StepFailureError({
    code: "CONNECTION_REQUIRED",
    message:
      providerId === undefined
        ? "The step names neither a provider nor a connection."
        : `There is no provider ${providerId}.`,
    details: { provider: providerId ?? null, candidates: [] },
  });
}

function notRenewed(connectionId: string, message: string): StepFailureError {
  return new StepFailureError({
    code: "CONNECTION_UNAVAILABLE",
    message: `The connection's credentials have ended and cannot be renewed at the moment: ${message}`,
    details: { connectionId },
    retryable: true,
  });
}
