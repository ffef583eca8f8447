import { withOperatorCredentials } from "@workflow/catalog";
import type {
  ConnectionAccess,
  ProviderAnswer,
  ProviderManifest,
  ProviderRequest,
} from "@workflow/catalog";
import { createSafeHttpClient, HttpClientError } from "@workflow/http-client";
import type { SafeHttpClient, SafeResponse } from "@workflow/http-client";
import { providerSettingName } from "@workflow/service";
import type { ProviderSettings } from "@workflow/service";
import type { Tracer } from "@workflow/tracing";
import { AnswerRooms } from "./answer-room.ts";
import type { AnswerRoom, RoomRequest } from "./answer-room.ts";
import { toProviderCallError } from "./provider-call-error.ts";
import { readAnswerBody } from "./read-answer-body.ts";

/** The options of the client for providers. */
export interface ProviderHttpOptions {
  /** Lets tenants name private hosts; for development and tests. */
  allowPrivate: boolean;
  dnsServers?: readonly string[] | undefined;
  nat64Prefixes?: readonly string[] | undefined;
  /** The operator's settings of each provider, by its id; base URLs among them may be private. */
  settings: ReadonlyMap<string, ProviderSettings>;
  /** Makes the spans of recorded traces. */
  tracer?: Tracer | undefined;
}

/** The company of a request, and its limits. */
export interface ProviderExchange {
  companyId: string;
  /** W3C trace context of the cause of the request. */
  traceparent?: string | undefined;
  /** The id of the provider's manifest. */
  provider: string;
  /** The limit of the whole exchange; 30 s by default. */
  timeoutMs?: number | undefined;
  /** The limit of the answer's body; 4 MiB by default, which is also the maximum. */
  bytesMax?: number | undefined;
  signal?: AbortSignal | undefined;
  /** The room of answers that stay in memory together; by default each answer has its own. */
  room?: AnswerRoom | undefined;
}

/** An answer and its size. */
export interface ReceivedAnswer extends ProviderAnswer {
  /** The length of the decoded body. */
  readonly bytes: number;
}

/** The only client for providers. */
export interface ProviderHttp {
  /**
   * Sends one request for a company, over connections of its own. The addresses follow the rules for
   * hosts that tenants name. The only exceptions are the origins of the operator's
   * `<PROVIDER>_BASE_URL` and `<PROVIDER>_OAUTH_BASE_URL`. A GET follows redirects within its origin;
   * nothing is sent to another one.
   *
   * @returns the answer, whatever its status
   * @throws ProviderCallError when there is no readable answer
   */
  sendProviderRequest(
    request: ProviderRequest,
    exchange: ProviderExchange,
  ): Promise<ReceivedAnswer>;
  /** Opens a room for all answers of one piece of work, until `leave`. */
  openRoom(request: RoomRequest): AnswerRoom;
  /** The operator's `<PROVIDER>_BASE_URL`; undefined when the manifest's address counts. */
  baseUrlOf(provider: string): string | undefined;
  /**
   * The access with our own credentials added, for providers whose manifests need both.
   *
   * @throws MissingFieldError that names the missing setting
   */
  withOwnCredentials(provider: ProviderManifest, access: ConnectionAccess): ConnectionAccess;
  /** Refuses new requests and waits for current ones. */
  close(): Promise<void>;
}

/** A step result may have 4 MiB of JSON (D4). */
export const ANSWER_BYTES_MAX = 4 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
const REDIRECTS_MAX = 3;

/** Creates the client. Connections open with the first requests. */
export function createProviderHttp(options: ProviderHttpOptions): ProviderHttp {
  const { dnsServers, nat64Prefixes, settings, tracer } = options;
  const create = (allowPrivate: boolean): SafeHttpClient =>
    createSafeHttpClient({ allowPrivate, dnsServers, nat64Prefixes, tracer });
  const clients = { named: create(options.allowPrivate), operators: create(true) };
  const rooms = new AnswerRooms();
  const own = ownCredentials(settings);
  const baseUrlOf = (provider: string): string | undefined => settings.get(provider)?.baseUrl;

  const clientFor = (url: string, provider: string): SafeHttpClient => {
    const { baseUrl = "", oauthBaseUrl = "" } = settings.get(provider) ?? {};
    const operators = [baseUrl, oauthBaseUrl].map((each) => URL.parse(each)?.origin);
    const { origin } = URL.parse(url) ?? {};
    const isOperators = origin !== undefined && operators.includes(origin);
    return isOperators ? clients.operators : clients.named;
  };

  return {
    baseUrlOf,
    openRoom: (request) => rooms.open(request),
    withOwnCredentials: (provider, access) => withOperatorCredentials(provider, access, own),
    async sendProviderRequest({ method, url, headers, body }, exchange) {
      const bytesMax = Math.min(exchange.bytesMax ?? ANSWER_BYTES_MAX, ANSWER_BYTES_MAX);
      const room = exchange.room ?? rooms.open({ ...exchange, bytesMax });
      try {
        const response = await clientFor(url, exchange.provider)
          .forTenant(exchange.companyId, exchange.traceparent)
          .request(
            {
              method,
              url,
              headers,
              ...(body === undefined ? {} : { body }),
              timeoutMs: exchange.timeoutMs ?? TIMEOUT_MS,
              maxResponseBytes: bytesMax,
              followRedirects: method === "GET" ? REDIRECTS_MAX : 0,
              onHop: stayAt(url),
              onData: (bytes) => room.take(bytes),
            },
            exchange.signal,
          );
        return toAnswer(response);
      } catch (error) {
        throw toProviderCallError(error);
      } finally {
        if (exchange.room === undefined) room.leave();
      }
    },
    async close() {
      await Promise.all([clients.named.close(), clients.operators.close()]);
    },
  };
}

/** Our own credentials, by the names of their settings. */
function ownCredentials(settings: ProviderHttpOptions["settings"]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [id, { clientId, clientSecret }] of settings) {
    if (clientId !== undefined) found[providerSettingName(id, "CLIENT_ID")] = clientId;
    if (clientSecret !== undefined) found[providerSettingName(id, "CLIENT_SECRET")] = clientSecret;
  }
  return found;
}

/**
 * Refuses redirects to another origin. The HTTP client can't remove credentials from headers and
 * queries of unknown names.
 */
function stayAt(first: string): (hop: URL) => void {
  const origin = URL.parse(first)?.origin;
  return (hop) => {
    if (hop.origin === origin) return;
    const message = "The provider redirected to another host, which is not followed.";
    throw new HttpClientError("REDIRECT_REFUSED", message);
  };
}

function toAnswer(response: SafeResponse): ReceivedAnswer {
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : value,
    ]),
  );
  const { status, body } = response;
  return { status, headers, body: readAnswerBody(response), bytes: body.length };
}
