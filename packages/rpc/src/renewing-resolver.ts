import { experimental } from "@grpc/grpc-js";

type Target = Parameters<typeof experimental.createResolver>[0];
type Listener = Parameters<typeof experimental.createResolver>[1];
type Options = Parameters<typeof experimental.createResolver>[2];
type Resolver = ReturnType<typeof experimental.createResolver>;

const SCHEME = "renewing-dns";
const RENEW_MS = 30_000;
/** The channel option that says how often names are looked up, in milliseconds. */
const RENEW_OPTION = "workflow.renew_ms";

/**
 * Looks names up at an interval. grpc-js alone looks a name up only when a connection ends. A
 * replica that is added behind a name would get no calls from clients that are connected to the
 * others.
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

  /** The name that a server's certificate has to be for. */
  static getDefaultAuthority(target: Target): string {
    return target.path;
  }
}

experimental.registerResolver(SCHEME, RenewingResolver);

/** The target of a channel to a name: `host:port`, or `//nameserver/host:port`. */
export function renewingTarget(name: string): string {
  return `${SCHEME}:${name}`;
}

/** The options of a channel to such a target. */
export function renewingOptions(renewMs = RENEW_MS): Readonly<Record<string, number>> {
  // Failing connections ask for look-ups, too; they get none beyond this pace.
  return {
    [RENEW_OPTION]: renewMs,
    "grpc.dns_min_time_between_resolutions_ms": Math.min(renewMs, 5_000),
  };
}
