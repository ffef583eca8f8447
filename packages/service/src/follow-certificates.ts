import type { Scope } from "@workflow/async";
import { RenewedCertificates } from "@workflow/rpc";
import type { RpcTls } from "@workflow/rpc";
import type { Logger } from "pino";
import type { Registry } from "prom-client";
import { counterIn } from "./metrics.ts";
import type { ReadinessCheck } from "./readiness.ts";
import { watchGauge } from "./watched-gauge.ts";

/** The options of following certificates. */
export interface FollowOptions {
  registry: Registry;
  logger: Logger;
  /** The interval at which the files are read, in milliseconds (default 10,000). */
  everyMs?: number | undefined;
}

/**
 * Loads renewed certificates until the scope closes. It logs and counts renewals, and shows when
 * certificates expire. Without certificate files it does nothing.
 *
 * @returns the check for readiness; the old certificates stay in use while new ones are unusable
 */
export function followCertificates(
  tls: RpcTls | undefined,
  { registry, logger, everyMs }: FollowOptions,
  scope: Scope,
): ReadinessCheck[] {
  if (!(tls instanceof RenewedCertificates)) return [];
  const renewals = counterIn(registry, {
    name: "tls_certificate_renewals_total",
    help: "Changes of the files of certificates, by whether they could be used.",
    labelNames: ["outcome"],
  });
  const report = {
    onRenewed() {
      renewals.inc({ outcome: "used" });
      logger.info({ expiresAt: expiryOf(tls) }, "renewed certificates are in use");
    },
    onTrouble(reason: string) {
      renewals.inc({ outcome: "refused" });
      logger.error(
        { reason },
        "the files of certificates cannot be used; the old ones stay in use",
      );
    },
  };
  scope.defer(tls.follow(report, everyMs));
  scope.defer(
    watchGauge(
      registry,
      {
        name: "tls_certificate_expires_timestamp_seconds",
        help: "When the certificate of this process ends, in seconds since the epoch.",
        labelNames: [],
      },
      () => {
        const expiresAt = tls.expiresAt();
        return expiresAt === null ? [] : [[{}, expiresAt / 1_000]];
      },
    ),
  );
  const trouble = async (): Promise<string | null> => {
    const reason = tls.trouble();
    return reason === null ? null : `certificates: ${reason}`;
  };
  return [{ isNeeded: false, trouble }];
}

function expiryOf(tls: RenewedCertificates): string | undefined {
  const expiresAt = tls.expiresAt();
  return expiresAt === null ? undefined : new Date(expiresAt).toISOString();
}
