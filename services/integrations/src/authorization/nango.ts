import { z } from "zod";
import { ProviderCallError } from "../provider-http/provider-call-error.ts";
import type { ProviderHttp } from "../provider-http/provider-http.ts";
import {
  brokerElsewhere,
  brokerFailure,
  brokerRefusal,
  BrokerStatusError,
  brokerUnready,
  connectionGone,
  isUnknownConnection,
  listFailure,
  withoutTags,
} from "./broker-errors.ts";

/** The address and the key of the broker. */
export interface BrokerOptions {
  /** The base URL of Nango's API, without a trailing slash. */
  baseUrl: string;
  secretKey: string;
}

/** The broker's name in the provider client, which applies address rules by it. */
export const BROKER_ID = "nango";

/** The company and the integration of a call to the broker. */
export interface BrokerTarget {
  companyId: string;
  /** The integration's id at the broker. */
  integration: string;
}

/** An account at the broker. */
export interface BrokerAccount {
  connectionId: string;
  accessToken: string;
  /** The end of the access token; null when the broker does not say. */
  expiresAt: Date | null;
  /** The provider's token answer. */
  raw: unknown;
  /** Further facts from the broker: parameters of the callback, and the person's entries. */
  config: Readonly<Record<string, unknown>>;
}

/** The part of Nango's API that connects accounts. */
export interface Broker {
  /**
   * Returns the address of a page where a person connects an account; the new connection carries the attempt's tag.
   */
  createConnectLink(target: BrokerTarget, attemptId: string): Promise<string>;
  /** Lists the connections of an attempt: one for each time that somebody has finished at the broker. */
  findConnections(target: BrokerTarget, attemptId: string): Promise<readonly string[]>;
  /**
   * Returns an account, renewed when `renew` says so.
   *
   * @throws AuthorizationRefusedError when the broker no longer has the account, or cannot renew it
   */
  getAccount(
    target: BrokerTarget,
    connectionId: string,
    options?: { renew: boolean },
  ): Promise<BrokerAccount>;
  /** Deletes a connection; an absent one is no error. */
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
      // Null for a connection without tags; absent when the installation knows none.
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
/** The tag that contains the attempt of a connection at the broker. */
const ATTEMPT_TAG = "end_user_id";

/** A call to the broker. */
interface Call {
  method: "GET" | "POST" | "DELETE";
  path: string;
  query?: Readonly<Record<string, string>>;
  body?: unknown;
}

/**
 * Creates a client of Nango's API (its `docs/spec.yaml`). Errors are AppErrors UPSTREAM_ERROR unless
 * others are named.
 */
export function createBroker(http: ProviderHttp, options: BrokerOptions): Broker {
  return new NangoBroker(http, options);
}

class NangoBroker implements Broker {
  readonly #http: ProviderHttp;
  readonly #options: BrokerOptions;

  constructor(http: ProviderHttp, options: BrokerOptions) {
    this.#http = http;
    this.#options = options;
  }

  async createConnectLink(target: BrokerTarget, attemptId: string): Promise<string> {
    const { companyId, integration } = target;
    const { data } = await this.#read(target, sessionAnswer, {
      method: "POST",
      path: "/connect/sessions",
      body: {
        tags: { [ATTEMPT_TAG]: attemptId, organization_id: companyId },
        allowed_integrations: [integration],
      },
    });
    return data.connect_link;
  }

  async findConnections(target: BrokerTarget, attemptId: string): Promise<readonly string[]> {
    const query = { [`tags[${ATTEMPT_TAG}]`]: attemptId };
    const call: Call = { method: "GET", path: "/connections", query };
    const { connections } = await this.#read(target, listAnswer, call, listFailure);
    if (connections.some(({ tags }) => tags === undefined)) throw withoutTags();
    // An installation that does not know the filter answers with everybody's connections.
    return connections
      .filter(({ tags }) => tags?.[ATTEMPT_TAG] === attemptId)
      .filter((each) => each.provider_config_key === target.integration)
      .map((each) => each.connection_id);
  }

  async getAccount(
    target: BrokerTarget,
    connectionId: string,
    options?: { renew: boolean },
  ): Promise<BrokerAccount> {
    const { integration } = target;
    try {
      const account = await this.#read(target, accountAnswer, {
        method: "GET",
        path: `/connections/${encodeURIComponent(connectionId)}`,
        query: {
          provider_config_key: integration,
          ...(options?.renew === true ? { force_refresh: "true" } : {}),
        },
      });
      return toAccount(account);
    } catch (error) {
      if (!(error instanceof BrokerStatusError)) throw error;
      if (!isUnknownConnection(error.answer)) throw brokerRefusal(error, integration);
      throw (await this.#isListed(target, connectionId)) ? error : connectionGone(error);
    }
  }

  async deleteConnection(target: BrokerTarget, connectionId: string): Promise<void> {
    const { companyId, integration } = target;
    const { status, body } = await this.#send(companyId, {
      method: "DELETE",
      path: `/connections/${encodeURIComponent(connectionId)}`,
      query: { provider_config_key: integration },
    });
    if (status >= 200 && status <= 299) return;
    const isGone =
      isUnknownConnection({ status, body }) && !(await this.#isListed(target, connectionId));
    if (!isGone) throw brokerFailure({ status, body }, integration);
  }

  /** Whether the broker lists a connection that it calls unknown. A server that is no broker has no list. */
  async #isListed(target: BrokerTarget, connectionId: string): Promise<boolean> {
    const query = { connectionId };
    const call: Call = { method: "GET", path: "/connections", query };
    try {
      const { connections } = await this.#read(target, listAnswer, call);
      return connections.some((each) => each.connection_id === connectionId);
    } catch (error) {
      if (!(error instanceof BrokerStatusError) || !isUnknownConnection(error.answer)) throw error;
      throw brokerElsewhere(error.answer.status);
    }
  }

  async #read<T>(
    { companyId, integration }: BrokerTarget,
    schema: z.ZodType<T>,
    call: Call,
    failureOf: typeof brokerFailure = brokerFailure,
  ): Promise<T> {
    const { status, body } = await this.#send(companyId, call);
    if (status < 200 || status > 299) throw failureOf({ status, body }, integration);
    const parsed = schema.safeParse(body);
    if (!parsed.success) throw brokerUnready("Its answer is not what its document describes.");
    return parsed.data;
  }

  async #send(companyId: string, { method, path, query = {}, body }: Call) {
    const { baseUrl, secretKey } = this.#options;
    const url = `${baseUrl}${path}?${new URLSearchParams(query).toString()}`.replace(/\?$/, "");
    const text = body === undefined ? undefined : JSON.stringify(body);
    try {
      return await this.#http.sendProviderRequest(
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
      throw brokerUnready(error.message, error);
    }
  }
}

function toAccount({
  connection_id: connectionId,
  connection_config: config,
  credentials,
}: z.output<typeof accountAnswer>): BrokerAccount {
  const { access_token: accessToken, expires_at: expiresAt, raw } = credentials;
  return {
    connectionId,
    accessToken,
    expiresAt: expiresAt === null || expiresAt === undefined ? null : new Date(expiresAt),
    raw: raw ?? {},
    config,
  };
}
