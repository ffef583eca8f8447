import { fieldProblem, placeholdersOf } from "@workflow/catalog";
import type { ProviderManifest } from "@workflow/catalog";
import { AppError } from "@workflow/errors";
import { isStorableText } from "@workflow/json";
import type {
  CreateConnectionRequest,
  CreateConnectionResponse,
} from "@workflow/proto/integrations/v1/connections";
import { rpc } from "@workflow/rpc";
import type { UnaryMethod } from "@workflow/rpc";
import {
  insertConnectionRow,
  insertRecordedConnection,
  newConnectionId,
  recordCreated,
} from "../connections/create-row.ts";
import { FIELD_CHARS_MAX } from "../connections/limits.ts";
import type { ServiceContext } from "../context.ts";
import { deleteConnection } from "../store/connection-changes.ts";
import { toConnectionMessage } from "./connection-message.ts";
import { requireMetadata, requireName, requireProvider, wrongField } from "./connection-request.ts";

/**
 * Creates a connection without keys. For OAuth providers and banks it is pending until the person has
 * authorized it; an own application's (D37) is active at once.
 */
export function createConnection(
  context: ServiceContext,
): UnaryMethod<CreateConnectionRequest, CreateConnectionResponse> {
  const { database, writes, flow } = context;
  return rpc({
    scopes: "connections:write",
    async handler(request, call) {
      const name = requireName(request.name);
      const provider = requireProvider(request.provider);
      const metadata = requireMetadata(request.metadataJson);
      const isOwn = provider.auth.kind === "own";
      const externalAccountId = isOwn ? requireAccountId(request.externalAccountId) : null;
      if (!isOwn) requireAuthorizable(context, provider);
      const fields = fieldsKnownBefore(provider, metadata.members);
      const key = {
        companyId: call.identity.companyId.toLowerCase(),
        connectionId: newConnectionId(),
      };
      const planned = {
        ...key,
        name,
        provider: provider.id,
        externalAccountId,
        // No provider can confirm the owner of such an account.
        accountClaimed: isOwn,
        fields,
        metadataJson: metadata.json,
        credentials: null,
      };
      if (isOwn) {
        const row = await insertRecordedConnection(context, call, { ...planned, status: "active" });
        return { connection: toConnectionMessage(row, metadata.json), authorizationUrl: "" };
      }
      const row = await insertConnectionRow(writes, call, { ...planned, status: "pending" });
      const connection = toConnectionMessage(row, metadata.json);
      try {
        const { url } = await flow.begin({
          ...key,
          provider,
          name,
          fields,
          redirectUrl: null,
          publicOrigin: request.publicOrigin,
          call,
        });
        await recordCreated(context, call, row);
        return { connection, authorizationUrl: url };
      } catch (error) {
        // The caller gets no address, so nobody could complete the connection.
        await deleteConnection(database, key, row.credentialsVersion);
        throw error;
      }
    },
  });
}

function requireAuthorizable({ flow }: ServiceContext, provider: ProviderManifest): void {
  if (provider.auth.kind === "apiKey") {
    throw new AppError(
      "BAD_REQUEST",
      `${provider.name} is connected with an API key: POST /connections/${provider.id}/api-key.`,
      { violations: [{ path: ["provider"], message: "is connected with an API key" }] },
    );
  }
  flow.requireAvailable(provider);
}

/** Control and format characters: with them two different ids could look the same. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

function requireAccountId(id: string): string {
  if (id === "") throw wrongField("externalAccountId", "is required");
  if (id.length > FIELD_CHARS_MAX || !isStorableText(id) || INVISIBLE.test(id)) {
    throw wrongField(
      "externalAccountId",
      `must be storable text of at most ${FIELD_CHARS_MAX} characters that can be seen`,
    );
  }
  return id;
}

/**
 * Texts of the metadata that the provider's addresses name, such as NetSuite's `accountId`.
 *
 * @throws AppError BAD_REQUEST
 */
function fieldsKnownBefore(
  provider: ProviderManifest,
  metadata: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const { auth } = provider;
  if (auth.kind !== "oauth") return {};
  const names = new Set([...placeholdersOf(auth.authorizeUrl), ...placeholdersOf(auth.tokenUrl)]);
  const fields: Record<string, string> = {};
  for (const name of names) {
    const value = Object.hasOwn(metadata, name) ? metadata[name] : undefined;
    if (typeof value === "string") fields[name] = value;
  }
  const wrong = fieldProblem(provider, fields);
  if (wrong === null) return fields;
  const message = `is not of the form that ${provider.name} has`;
  throw new AppError("BAD_REQUEST", `metadata.${wrong} ${message}.`, {
    violations: [{ path: ["metadata", wrong], message }],
  });
}
