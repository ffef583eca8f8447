import type { ProviderFailure, ProviderManifest } from "@workflow/catalog";
import { isAppError } from "@workflow/errors";
import type { ConnectionAccessCache } from "../connections/access.ts";
import type { OpenConnection } from "../connections/open-connection.ts";
import { renewAccess } from "../connections/renew-access.ts";
import type { RenewContext } from "../connections/renew-access.ts";
import { notFound } from "./choose-connection.ts";
import { changeConnection } from "../store/connection-changes.ts";

/** Handles credentials that a provider refused. */
export interface RefusedCredentials {
  /** Renews refused credentials, once for all calls that were refused at the same time. */
  renew(provider: ProviderManifest, connection: OpenConnection): Promise<Renewal>;
  /** Marks the connection as in error or expired, unless it has new credentials by now. */
  mark(
    provider: ProviderManifest,
    connection: OpenConnection,
    refusal: Pick<ProviderFailure, "code" | "expired">,
  ): Promise<void>;
}

/** The outcome of renewing credentials. */
export type Renewal =
  | { kind: "renewed"; connection: OpenConnection }
  /** The credentials can't be renewed, so the provider's refusal counts. */
  | { kind: "final" }
  /** The renewal was refused for good, and the connection's status says so. */
  | { kind: "settled" }
  /** The token service does not answer at the moment. */
  | { kind: "later" };

/** A handler that remembers only the renewals in progress. */
export function createRefusedCredentials(
  context: RenewContext & { access: ConnectionAccessCache },
): RefusedCredentials {
  const underWay = new Map<string, Promise<Renewal>>();

  const renewNow = async (connection: OpenConnection): Promise<Renewal> => {
    try {
      // The provider says that the credentials have ended, whatever their expiry was.
      const renewed = await renewAccess(context, { ...connection, expiresAt: new Date(0) });
      context.access.forget(connection.connectionId);
      const isOther =
        JSON.stringify(renewed.credentials) !== JSON.stringify(connection.credentials);
      if (renewed.status !== "active") return { kind: "settled" };
      return isOther ? { kind: "renewed", connection: renewed } : { kind: "final" };
    } catch (error) {
      if (!isAppError(error)) throw error;
      if (error.reason === "UPSTREAM_ERROR") return { kind: "later" };
      // This installation cannot renew the credentials.
      if (error.reason === "BAD_REQUEST") return { kind: "final" };
      // The connection was deleted meanwhile.
      if (error.reason === "NOT_FOUND") throw notFound(connection.connectionId);
      throw error;
    }
  };

  return {
    async renew(provider, connection) {
      if (!isRenewable(provider)) return { kind: "final" };
      const name = `${connection.connectionId} ${connection.version}`;
      const renewing =
        underWay.get(name) ?? renewNow(connection).finally(() => underWay.delete(name));
      underWay.set(name, renewing);
      return renewing;
    },
    async mark(provider, connection, { code, expired }) {
      await changeConnection(context.database, connection, expired ? "expired" : "failed", {
        ifVersion: connection.version,
        errorMessage: reasonOf(provider, expired),
        errorCode: knownCode(provider, code),
      });
      context.access.forget(connection.connectionId);
    },
  };
}

/**
 * The reason in our words. The provider's answer may repeat the step's request, and everybody who sees
 * the connection would see it.
 */
function reasonOf({ name }: ProviderManifest, expired: boolean): string {
  return expired
    ? `${name} told a step that the account has to be connected again.`
    : `${name} refused the credentials when a step used them.`;
}

/** A code that the manifest lists, since any other text may repeat the step's request. */
function knownCode({ errors }: ProviderManifest, code: string | null): string | null {
  const known = [...(errors?.credentialCodes ?? []), ...(errors?.expiredCodes ?? [])];
  return code !== null && known.includes(code) ? code : null;
}

/** Tokens are renewed; keys that a person entered are not. */
function isRenewable({ auth }: ProviderManifest): boolean {
  return auth.kind === "oauth" || (auth.kind === "apiKey" && auth.login !== undefined);
}
