import { AppError } from "@workflow/errors";
import { z } from "zod";
import { ProviderCallError } from "../provider-http/provider-call-error.ts";
import type { ProviderHttp } from "../provider-http/provider-http.ts";
import { AuthorizationRefusedError } from "./oauth-errors.ts";

/** Where the broker is. */
export interface BrokerOptions {
  /** Of Nango's API, without a slash at the end. */
  baseUrl: string;
  secretKey: string;
}

/** As whom the broker is called by the one way out, which judges addresses by it. */
export const BROKER_ID = "nango";

/** For whom, and about which integration, the broker is asked. */
export interface BrokerTarget {
  companyId: string;
  /** The integration's id at the broker. */
  integration: string;
}

/** What the broker has of an account. */
export interface BrokerAccount {
  connectionId: string;
  accessToken: string;
  /** When the access token ends; null when the broker does not say. */
  expiresAt: Date | null;
  /** What the provider's token answer was. */
  raw: unknown;
  /** What the broker noted on the way: parameters of the callback, what the person entered. */
  config: Readonly<Record<string, unknown>>;
}

/** Nango's API, as far as connecting accounts goes. */
export interface Broker {
  /** The address of a page where a person connects an account; what comes of it carries the attempt's tag. */
  createConnectLink(target: BrokerTarget, attemptId: string): Promise<string>;
  /** The connections that came of an attempt: one for each time that somebody has finished there. */
  findConnections(target: BrokerTarget, attemptId: string): Promise<readonly string[]>;
  /** Throws AuthorizationRefusedError when the broker has it no more, or can't renew it. */
  getAccount(
    target: BrokerTarget,
    connectionId: string,
    options?: { renew: boolean },
  ): Promise<BrokerAccount>;
  /** One that is not there is no error. */
  deleteConnection(target: BrokerTarget, connectionId: string): Promise<void>;
}

const sessionAnswer = z.object({
  data: z.object({ connect_link: z.url({ protocol: /^https?$/ }) }),
});
const listAnswer = z.object({
  connections: z.array(
    z.object({
      connection_id: z.string().min(1),
      provider_config_key: z.string(),
      // Null where none were given; absent where the installation knows none.
      tags: z.record(z.string(), z.string()).nullish(),
    }),
  ),
});
const accountAnswer = z.object({
  connection_id: z.string().min(1),
  connection_config: z.record(z.string(), z.unknown()),
  credentials: z.object({
    access_token: z.string().min(1),
    expires_at: z.iso.datetime({ offset: true }).nullish(),
    raw: z.unknown(),
  }),
});

const ANSWER_BYTES_MAX = 1024 * 1024;
/** The tag that ties a connection at the broker to the attempt that it came from. */
const ATTEMPT_TAG = "end_user_id";

/** How a call is made. */
interface Call {
  method: "GET" | "POST" | "DELETE";
  path: string;
  query?: Readonly<Record<string, string>>;
  body?: unknown;
}

/** Speaks to Nango (its `docs/spec.yaml`). All errors are AppErrors UPSTREAM_ERROR but those named. */
export function createBroker(http: ProviderHttp, { baseUrl, secretKey }: BrokerOptions): Broker {
  const send = async (companyId: string, { method, path, query = {}, body }: Call) => {
    const url = `${baseUrl}${path}?${new URLSearchParams(query).toString()}`.replace(/\?$/, "");
    const text = body === undefined ? undefined : JSON.stringify(body);
    try {
      return await http.sendProviderRequest(
        {
          method,
          url,
          headers: {
            accept: "application/json",
            authorization: `Bearer ${secretKey}`,
            ...(text === undefined ? {} : { "content-type": "application/json" }),
          },
          body: text,
        },
        { companyId, provider: BROKER_ID, bytesMax: ANSWER_BYTES_MAX },
      );
    } catch (error) {
      if (!(error instanceof ProviderCallError)) throw error;
      throw brokerError(error.message, error);
    }
  };

  const read = async <T>(companyId: string, schema: z.ZodType<T>, call: Call): Promise<T> => {
    const { status, body } = await send(companyId, call);
    if (status < 200 || status > 299) throw statusError(status, body);
    const parsed = schema.safeParse(body);
    if (!parsed.success) throw brokerError("Its answer is not what its document describes.");
    return parsed.data;
  };

  return {
    async createConnectLink({ companyId, integration }, attemptId) {
      const { data } = await read(companyId, sessionAnswer, {
        method: "POST",
        path: "/connect/sessions",
        body: {
          tags: { [ATTEMPT_TAG]: attemptId, organization_id: companyId },
          allowed_integrations: [integration],
        },
      });
      return data.connect_link;
    },
    async findConnections({ companyId, integration }, attemptId) {
      const { connections } = await requireTags(() =>
        read(companyId, listAnswer, {
          method: "GET",
          path: "/connections",
          query: { [`tags[${ATTEMPT_TAG}]`]: attemptId },
        }),
      );
      if (connections.some(({ tags }) => tags === undefined)) throw withoutTags();
      // An installation that does not know the filter would answer with everybody's.
      return connections
        .filter(({ tags }) => tags?.[ATTEMPT_TAG] === attemptId)
        .filter((each) => each.provider_config_key === integration)
        .map((each) => each.connection_id);
    },
    async getAccount({ companyId, integration }, connectionId, options) {
      const account = await readAccount(() =>
        read(companyId, accountAnswer, {
          method: "GET",
          path: `/connections/${encodeURIComponent(connectionId)}`,
          query: {
            provider_config_key: integration,
            ...(options?.renew === true ? { force_refresh: "true" } : {}),
          },
        }),
      );
      const { access_token: accessToken, expires_at: expiresAt, raw } = account.credentials;
      return {
        connectionId: account.connection_id,
        accessToken,
        expiresAt: expiresAt === null || expiresAt === undefined ? null : new Date(expiresAt),
        raw: raw ?? {},
        config: account.connection_config,
      };
    },
    async deleteConnection({ companyId, integration }, connectionId) {
      const { status } = await send(companyId, {
        method: "DELETE",
        path: `/connections/${encodeURIComponent(connectionId)}`,
        query: { provider_config_key: integration },
      });
      if ((status < 200 || status > 299) && status !== 404) throw statusError(status);
    },
  };
}

/** What the broker answers with a status of its own. */
class BrokerStatusError extends AppError {
  readonly status: number;

  constructor(status: number) {
    super("UPSTREAM_ERROR", `${BROKER_UNREADY} ${explainStatus(status)}`);
    this.status = status;
  }
}

const refusedBody = z.object({
  error: z.object({
    errors: z.array(z.looseObject({ path: z.array(z.unknown()).optional(), message: z.string() })),
  }),
});

/**
 * Whether a session is refused for its form: installations from before tags know the member `tags` not at
 * all and want `end_user` instead.
 */
function refusesTags(body: unknown): boolean {
  const parsed = refusedBody.safeParse(body);
  if (!parsed.success) return false;
  return parsed.data.error.errors.some(
    ({ path = [], message }) =>
      path[0] === "tags" || path[0] === "end_user" || /\btags\b/.test(message),
  );
}

/** An installation from before tags refuses the filter, or has no such list at all. */
async function requireTags<T>(list: () => Promise<T>): Promise<T> {
  try {
    return await list();
  } catch (error) {
    if (!(error instanceof BrokerStatusError)) throw error;
    if (error.status === 400 || error.status === 404) throw withoutTags(error);
    throw error;
  }
}

/** Without them nothing ties a connection there to the attempt that it came from, so none may count. */
function withoutTags(cause?: unknown): AppError {
  const message =
    "The OAuth broker has no connections with tags, which are needed: what answers at NANGO_BASE_URL is a version of Nango from before February 2026, or something else.";
  return new AppError("UPSTREAM_ERROR", message, { cause });
}

const BROKER_UNREADY = "The OAuth broker cannot be asked at the moment.";

function explainStatus(status: number): string {
  if (status === 401 || status === 403) return "It refuses NANGO_SECRET_KEY.";
  if (status === 400 || status === 404) return "The provider is not set up there.";
  return `It answered ${status}.`;
}

function statusError(status: number, body?: unknown): AppError {
  return status === 400 && refusesTags(body) ? withoutTags() : new BrokerStatusError(status);
}

function brokerError(why: string, cause?: unknown): AppError {
  return new AppError("UPSTREAM_ERROR", `${BROKER_UNREADY} ${why}`, { cause });
}

/** 424: the provider takes the refresh token no more. 404: somebody has removed it at the broker. */
async function readAccount<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof BrokerStatusError)) throw error;
    if (error.status === 424) throw refused("The provider has ended the authorization.", error);
    if (error.status === 404) throw refused("The broker has no such connection.", error);
    throw error;
  }
}

function refused(message: string, cause: Error): AuthorizationRefusedError {
  return new AuthorizationRefusedError(message, "invalid_grant", { cause });
}
