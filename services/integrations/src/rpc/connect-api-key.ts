import { provesAccount } from "@workflow/catalog";
import type { ApiKeyAuth, ConnectionAccess, ProviderManifest, Verdict } from "@workflow/catalog";
import { AppError } from "@workflow/errors";
import type {
  ConnectApiKeyRequest,
  ConnectApiKeyResponse,
} from "@workflow/proto/integrations/v1/connections";
import { rpc } from "@workflow/rpc";
import type { RpcContext, UnaryMethod } from "@workflow/rpc";
import { connectionEntry } from "../connections/connection-audit.ts";
import { connectionNotFound, requireConnectionKey } from "../connections/connection-key.ts";
import { insertRecordedConnection, newConnectionId } from "../connections/create-row.ts";
import { openConnection } from "../connections/open-connection.ts";
import type { OpenConnection } from "../connections/open-connection.ts";
import { claimedAccount, parseKeys } from "../connections/parse-keys.ts";
import { verifyCredentials } from "../connections/verify-credentials.ts";
import type { ServiceContext } from "../context.ts";
import { sealCredentials } from "../encryption/sealed-credentials.ts";
import { changeConnection } from "../store/connection-changes.ts";
import { findConnection } from "../store/connections.ts";
import type { ConnectionRow } from "../store/connections.ts";
import { toConnectionMessage } from "./connection-message.ts";
import { requireName, requireProviderOfPath, wrongField } from "./connection-request.ts";

/**
 * Stores keys that the provider has accepted, for a new connection or in place of earlier keys. When
 * the provider refuses them or does not answer, nothing changes.
 */
export function connectApiKey(
  context: ServiceContext,
): UnaryMethod<ConnectApiKeyRequest, ConnectApiKeyResponse> {
  return rpc({
    scopes: "connections:write",
    async handler(request, call) {
      const provider = requireProviderOfPath(request.provider);
      const auth = requireApiKeyAuth(provider);
      const name = request.name === "" ? null : requireName(request.name);
      const stored =
        request.connectionId === ""
          ? null
          : await openStored(context, request.connectionId, provider, call);
      const access = parseKeys(provider, auth, request, stored);
      const companyId = call.identity.companyId.toLowerCase();
      const account = await requireGood(context, provider, { companyId, access });
      const claim = { given: claimedAccount(auth, request), stored: stored?.externalAccountId };
      const keys = { ...withAccount(auth, access, account, claim), name };
      if (stored === null) {
        const created = await insertNew(context, call, provider, keys);
        return { connection: toConnectionMessage(created), created: true };
      }
      const row = await replaceKeys(context, call, stored, keys);
      return { connection: toConnectionMessage(row), created: false };
    },
  });
}

/** Accepted keys, and the provider's facts about their account. */
interface AcceptedKeys {
  access: ConnectionAccess;
  externalAccountId: string | null;
  /** Null: the provider's name, or the present name. */
  name: string | null;
}

function requireApiKeyAuth({ id, name, auth }: ProviderManifest): ApiKeyAuth {
  if (auth.kind === "apiKey") return auth;
  const how = auth.kind === "own" ? "POST /connections" : `GET /connections/${id}/auth-url`;
  throw new AppError("BAD_REQUEST", `${name} has no API keys; it is connected by ${how}.`);
}

async function openStored(
  context: ServiceContext,
  connectionId: string,
  provider: ProviderManifest,
  call: RpcContext,
): Promise<OpenConnection> {
  const stored = await openConnection(context, requireConnectionKey(connectionId, call));
  if (stored.provider === provider.id) return stored;
  throw wrongField("connectionId", `is not a connection of ${provider.name}`);
}

/**
 * The provider's facts about the account.
 *
 * @throws AppError BAD_REQUEST or UPSTREAM_ERROR
 */
async function requireGood(
  { providerHttp }: ServiceContext,
  provider: ProviderManifest,
  keys: { companyId: string; access: ConnectionAccess },
) {
  const verdict = await verifyCredentials(providerHttp, provider, keys);
  if (verdict.is === "good") return verdict;
  if (verdict.is === "bad") {
    const text = `${provider.name} does not accept the credentials: ${verdict.message}`;
    throw new AppError("BAD_REQUEST", text, {
      violations: [{ path: ["apiKey"], message: "was not accepted by the provider" }],
    });
  }
  const host = hostField(provider);
  if (host !== undefined && REFUSED_ADDRESSES.has(verdict.code ?? "")) {
    throw wrongField(host, "leads to an address that is not allowed");
  }
  const text = `${provider.name} could not check the credentials: ${verdict.message}`;
  throw new AppError("UPSTREAM_ERROR", text);
}

/** Errors before the request was sent, which mean that the caller's input is wrong. */
const REFUSED_ADDRESSES: ReadonlySet<string> = new Set(["ADDRESS_NOT_ALLOWED", "INVALID_URL"]);

/** The field with the host of the provider's API. */
function hostField({ auth }: ProviderManifest): string | undefined {
  if (auth.kind !== "apiKey") return undefined;
  return auth.fields.find(({ form }) => form === "host")?.key;
}

type Account = Extract<Verdict, { is: "good" }>;

/** @throws AppError BAD_REQUEST for an account that the keys do not prove to be the caller's */
function withAccount(
  auth: ApiKeyAuth,
  access: ConnectionAccess,
  account: Account,
  claim: { given: string | undefined; stored: string | null | undefined },
): Omit<AcceptedKeys, "name"> {
  const { accountField } = auth;
  const fields = { ...account.fields, ...access.fields };
  const known = accountField === undefined ? undefined : fields[accountField];
  const externalAccountId = known ?? claimedId(auth, account, claim);
  return { access: { ...access, fields }, externalAccountId };
}

/**
 * The account that the caller names; else the connection's, when the new keys prove it; else that of
 * the new keys.
 */
function claimedId(
  { accountClaim }: ApiKeyAuth,
  account: Account,
  { given, stored }: { given: string | undefined; stored: string | null | undefined },
): string | null {
  if (accountClaim === undefined) return account.accountId;
  if (given !== undefined) {
    if (provesAccount(account, given)) return given;
    throw wrongField(accountClaim, "is not confirmed by the provider for these credentials");
  }
  const isKept = typeof stored === "string" && provesAccount(account, stored);
  return isKept ? stored : account.accountId;
}

async function insertNew(
  context: ServiceContext,
  call: RpcContext,
  provider: ProviderManifest,
  { access, externalAccountId, name }: AcceptedKeys,
): Promise<ConnectionRow> {
  const key = { companyId: call.identity.companyId.toLowerCase(), connectionId: newConnectionId() };
  return insertRecordedConnection(context, call, {
    ...key,
    name: name ?? provider.name,
    provider: provider.id,
    status: "active",
    externalAccountId,
    fields: access.fields,
    metadataJson: null,
    credentials: await sealCredentials(context, key, access.credentials),
  });
}

/** Of two concurrent calls with valid keys the later one counts. */
async function replaceKeys(
  context: ServiceContext,
  call: RpcContext,
  stored: OpenConnection,
  { access, externalAccountId, name }: AcceptedKeys,
): Promise<ConnectionRow> {
  const { writes, audit } = context;
  const credentials = await sealCredentials(context, stored, access.credentials);
  const row = await writes.transaction(call, async (transaction) => {
    const before = await findConnection(transaction, stored);
    const replaced = await changeConnection(transaction, stored, "keysReplaced", {
      name: name ?? undefined,
      credentials,
      account: { fields: access.fields, externalAccountId },
    });
    if (replaced === null) throw connectionNotFound();
    const entry = connectionEntry("connection.credentials_replaced", before, replaced);
    await audit.record(transaction, call, entry);
    return replaced;
  });
  audit.wake();
  return row;
}
