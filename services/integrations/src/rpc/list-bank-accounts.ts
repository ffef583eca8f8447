import { callAction, MissingFieldError } from "@workflow/catalog";
import type { ActionManifest, ProviderFailure, ProviderManifest } from "@workflow/catalog";
import { AppError } from "@workflow/errors";
import type {
  ListBankAccountsRequest,
  ListBankAccountsResponse,
} from "@workflow/proto/integrations/v1/connections";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import { withoutCredentials } from "../actions/call-failure.ts";
import { scrubberOf } from "../provider-http/credential-scrubber.ts";
import { requireConnectionKey } from "../connections/connection-key.ts";
import { openConnection } from "../connections/open-connection.ts";
import type { OpenConnection } from "../connections/open-connection.ts";
import { requireManifest } from "../connections/renew-access.ts";
import { TRANSITIONS } from "../domain/connection-states.ts";
import type { ServiceContext } from "../context.ts";
import { ProviderCallError } from "../provider-http/provider-call-error.ts";
import { storableText } from "../provider-http/storable-text.ts";
import { changeConnection } from "../store/connection-changes.ts";
import { findConnection } from "../store/connections.ts";

/** The bank provider's action whose output has the member `accounts`. */
const ACTION = "getAccounts";
/** The stored length of a provider's words. */
const MESSAGE_CHARS_MAX = 500;
const CODE_CHARS_MAX = 100;
/** Below the deadline of the call. */
const TIMEOUT_MS = 30_000;

/**
 * Reads the accounts at a bank (D42). When a bank wants a new sign-in, the call succeeds: the answer
 * has the bank's code, and the connection is expired from then on.
 */
export function listBankAccounts(
  context: ServiceContext,
): UnaryMethod<ListBankAccountsRequest, ListBankAccountsResponse> {
  return rpc({
    scopes: "connections:read",
    async handler({ connectionId }, call) {
      const key = requireConnectionKey(connectionId, call);
      const connection = await openConnection(context, key);
      const provider = requireManifest(connection);
      const action = provider.actions.find(({ name }) => name === ACTION);
      if (provider.auth.kind !== "bank" || action === undefined) {
        throw new AppError("BAD_REQUEST", `${provider.name} has no bank accounts.`);
      }
      const states: readonly string[] = TRANSITIONS.refreshed.from;
      if (!states.includes(connection.status)) {
        const text = `The connection is ${connection.status}; connect the bank first.`;
        const details = { currentStatus: connection.status };
        throw new AppError("BAD_REQUEST", text, { details });
      }
      const accounts = await readAccounts(context, { provider, action }, connection);
      const row = await findConnection(context.database, key);
      return {
        accountsJson: JSON.stringify(accounts),
        lastErrorCode: row?.errorCode ?? undefined,
        lastSyncedAt: row?.lastSyncedAt ?? undefined,
      };
    },
  });
}

/**
 * The accounts; none when the bank or its provider refuses.
 *
 * @throws AppError UPSTREAM_ERROR
 */
async function readAccounts(
  { database, providerHttp }: ServiceContext,
  call: { provider: ProviderManifest; action: ActionManifest },
  connection: OpenConnection,
): Promise<readonly unknown[]> {
  const { provider } = call;
  try {
    const access = providerHttp.withOwnCredentials(provider, connection);
    // Answers may repeat anything that was sent, our own credentials included.
    const scrubber = scrubberOf(provider, access);
    const baseUrl = providerHttp.baseUrlOf(provider.id);
    const result = await callAction(call, { inputs: {}, access, baseUrl }, (request) =>
      providerHttp.sendProviderRequest(request, {
        companyId: connection.companyId,
        provider: provider.id,
        timeoutMs: TIMEOUT_MS,
      }),
    );
    const ifVersion = connection.version;
    if (result.ok) {
      await changeConnection(database, connection, "refreshed", { ifVersion, synced: true });
      return accountsIn(await scrubber.json(result.output));
    }
    const failure = await withoutCredentials(result.failure, scrubber);
    if (!failure.badCredentials) throw upstream(provider, failure.message);
    await changeConnection(database, connection, failure.expired ? "expired" : "failed", {
      ifVersion,
      errorMessage: storableText(failure.message.slice(0, MESSAGE_CHARS_MAX)),
      errorCode: storableText(codeOf(failure).slice(0, CODE_CHARS_MAX)),
    });
    return [];
  } catch (error) {
    if (error instanceof MissingFieldError) {
      throw new AppError("NOT_CONFIGURED", error.message, { cause: error });
    }
    if (!(error instanceof ProviderCallError)) throw error;
    throw upstream(provider, error.message, error);
  }
}

function codeOf({ code, status }: ProviderFailure): string {
  return code ?? String(status);
}

function accountsIn(output: unknown): readonly unknown[] {
  if (typeof output !== "object" || output === null || !("accounts" in output)) return [];
  return Array.isArray(output.accounts) ? output.accounts : [];
}

function upstream({ name }: ProviderManifest, message: string, cause?: unknown): AppError {
  return new AppError("UPSTREAM_ERROR", `${name} does not tell the accounts: ${message}`, {
    cause,
  });
}
