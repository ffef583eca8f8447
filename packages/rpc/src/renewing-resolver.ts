import { experimental } from "@grpc/grpc-js";

type Target = Parameters<typeof experimental.createResolver>[0];
type Listener = Parameters<typeof experimental.createResolver>[1];
type Options = Parameters<typeof experimental.createResolver>[2];
type Resolver = ReturnType<typeof experimental.createResolver>;

const SCHEME = "renewing-dns";
const RENEW_MS = 30_000;
/** The channel option for the interval of lookups, in milliseconds. */
const RENEW_OPTION = "workflow.renew_ms";

/**
 * Looks up names again and again. grpc-js looks up a name only when a connection ends, so clients of existing
 * replicas would never call added ones.
 */
class RenewingResolver implements Resolver {
  readonly #dns: Resolver;
  readonly #timer: NodeJS.Timeout;

  constructor(target: Target, listener: Listener, options: Options) {
    this.#dns = experimental.createResolver({ ...target, scheme: "dns" }, listener, options);
    const renewMs: unknown = options[RENEW_OPTION];
    const everyMs = typeof renewMs === "number" ? renewMs : RENEW_MS;
    this.#timer = setInterval(() => this.#dns.updateResolution(), everyMs).unref();
  }

  updateResolution(): void {
    this.#dns.updateResolution();
    this.#timer.refresh();
  }

  destroy(): void {
    clearInterval(this.#timer);
    this.#dns.destroy();
  }

  /** The name that a server's certificate must have. */
  static getDefaultAuthority(target: Target): string {
    return target.path;
  }
}

experimental.registerResolver(SCHEME, RenewingResolver);

/** The target of a channel to a name: `host:port`, or `//nameserver/host:port`. */
export function renewingTarget(name: string): string {
  return `${SCHEME}:${name}`;
}

/** The further channel options of such a target. */
export function renewingOptions(renewMs = RENEW_MS): Readonly<Record<string, number>> {
  // The minimum is the interval itself, but 5 s at most: failed connections ask for lookups, too.
  return {
    [RENEW_OPTION]: renewMs,
    "grpc.dns_min_time_between_resolutions_ms": Math.min(renewMs, 5_000),
  };
}
