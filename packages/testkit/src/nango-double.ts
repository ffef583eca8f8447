import { randomUUID } from "node:crypto";
import { startHttpDouble } from "./http-double.ts";
import type { DoubleResponse, HttpDouble, RecordedRequest } from "./http-double.ts";
import { answerTroubled } from "./trouble.ts";
import type { Trouble } from "./trouble.ts";

/** A connection as the broker keeps it. */
export interface NangoConnection {
  id: number;
  connectionId: string;
  integration: string;
  /** Null of one that was made without any. */
  tags: Readonly<Record<string, string>> | null;
  accessToken: string;
  connectionConfig: Record<string, unknown>;
  /** Whether the provider no longer takes its refresh token: the broker answers 424 then. */
  exhausted: boolean;
  /** How often its token was refreshed. */
  refreshes: number;
}

/** The broker, as its published document describes it. */
export interface NangoDouble {
  url: string;
  secretKey: string;
  requests: HttpDouble["requests"];
  /** What it does instead of answering the API; null: it answers. */
  trouble: Trouble | null;
  /**
   * How far connections have tags: lists are filtered by them, tags are listed but no filter is known, or
   * neither sessions nor lists know any.
   */
  tagging: "filtered" | "listed" | "unknown";
  readonly connections: NangoConnection[];
  /** Connects an account as the person does to whom a connect link was sent. */
  approve(connectLink: string, config?: Record<string, unknown>): NangoConnection;
  close(): Promise<void>;
}

interface Session {
  integrations: readonly string[];
  tags: Readonly<Record<string, string>>;
}

/** Life of an access token at the broker. */
const TOKEN_LIFE_MS = 3_600_000;

/**
 * Starts a server that answers as Nango's API does (`docs/spec.yaml` of NangoHQ/nango): connect
 * sessions, connections by tag and by id, deletion. Its connect page has one link, `Connect`.
 *
 * @param integrations the ids that are set up there
 */
export async function startNangoDouble(integrations: readonly string[]): Promise<NangoDouble> {
  const secretKey = randomUUID();
  const sessions = new Map<string, Session>();
  const connections: NangoConnection[] = [];

  const createSession = (body: string): DoubleResponse => {
    if (double.tagging === "unknown") {
      const errors = [{ code: "unrecognized_keys", message: 'Unrecognized key: "tags"', path: [] }];
      return { status: 400, body: { error: { code: "invalid_body", errors } } };
    }
    const { tags, allowed_integrations: allowed } = readSession(body);
    const unknown = allowed.filter((id) => !integrations.includes(id));
    if (unknown.length > 0) {
      const message = `Integration ${unknown.join()} does not exist`;
      return { status: 400, body: { error: { code: "invalid_body", errors: [{ message }] } } };
    }
    const token = `nango_connect_session_${randomUUID()}`;
    sessions.set(token, { integrations: allowed, tags });
    const expiresAt = new Date(Date.now() + 1_800_000).toISOString();
    const link = `${http.url}/connect-ui?session_token=${token}`;
    return { status: 201, body: { data: { token, connect_link: link, expires_at: expiresAt } } };
  };

  const listConnections = (url: URL): DoubleResponse => {
    if (double.tagging !== "filtered") {
      const all = connections.map(listed).map(({ tags, ...rest }) => {
        return double.tagging === "listed" ? { ...rest, tags } : rest;
      });
      return { body: { connections: all } };
    }
    const wanted = [...url.searchParams].flatMap(([name, value]) => {
      const tag = /^tags\[(.+)\]$/.exec(name)?.[1];
      return tag === undefined ? [] : [[tag, value] as const];
    });
    const id = url.searchParams.get("connectionId");
    const found = connections.filter(
      ({ tags, connectionId }) =>
        wanted.every(([name, value]) => tags?.[name] === value) &&
        (id === null || id === connectionId),
    );
    return { body: { connections: found.map(listed) } };
  };

  const withConnection = (
    url: URL,
    answer: (connection: NangoConnection) => DoubleResponse,
  ): DoubleResponse => {
    const id = decodeURIComponent(url.pathname.slice("/connections/".length));
    const key = url.searchParams.get("provider_config_key");
    const found = connections.find((each) => each.connectionId === id && each.integration === key);
    return found === undefined
      ? { status: 404, body: { error: { code: "not_found", message: "No such connection" } } }
      : answer(found);
  };

  const getConnection = (url: URL): DoubleResponse =>
    withConnection(url, (connection) => {
      if (connection.exhausted) {
        const message = "The external API returned an error when trying to refresh the token";
        return { status: 424, body: { error: { code: "refresh_token_external_error", message } } };
      }
      if (url.searchParams.get("force_refresh") === "true") {
        connection.refreshes += 1;
        connection.accessToken = `broker-token-${randomUUID()}`;
      }
      return { body: full(connection) };
    });

  const answerApi = (request: RecordedRequest, url: URL): DoubleResponse => {
    if (request.headers.authorization !== `Bearer ${secretKey}`) {
      return { status: 401, body: { error: { code: "unauthorized", message: "Bad key" } } };
    }
    const call = `${request.method} ${url.pathname.replace(/(?<=^\/connections\/).+/, "{id}")}`;
    switch (call) {
      case "POST /connect/sessions":
        return createSession(request.body);
      case "GET /connections":
        return listConnections(url);
      case "GET /connections/{id}":
        return getConnection(url);
      case "DELETE /connections/{id}":
        return withConnection(url, (connection) => {
          connections.splice(connections.indexOf(connection), 1);
          return { body: { success: true } };
        });
      default:
        return { status: 404, body: { error: { code: "not_found" } } };
    }
  };

  const approve = (connectLink: string, config: Record<string, unknown> = {}): NangoConnection => {
    const session = sessions.get(new URL(connectLink).searchParams.get("session_token") ?? "");
    if (session === undefined) throw new Error("The session is not known.");
    const connection: NangoConnection = {
      id: connections.length + 1,
      connectionId: randomUUID(),
      integration: session.integrations[0] ?? "",
      tags: session.tags,
      accessToken: `broker-token-${randomUUID()}`,
      connectionConfig: config,
      exhausted: false,
      refreshes: 0,
    };
    connections.push(connection);
    return connection;
  };

  const http = await startHttpDouble((request, response) => {
    const url = new URL(request.path, "http://double");
    if (url.pathname === "/connect-ui") return connectPage(url);
    if (url.pathname === "/connect-ui/approve") {
      approve(url.href);
      return page("Connected. You may close this tab.");
    }
    return double.trouble === null
      ? answerApi(request, url)
      : answerTroubled(double.trouble, response);
  });
  const double: NangoDouble = {
    url: http.url,
    secretKey,
    requests: http.requests,
    trouble: null,
    tagging: "filtered",
    connections,
    approve,
    close: () => http.close(),
  };
  return double;
}

function readSession(body: string): {
  tags: Record<string, string>;
  allowed_integrations: string[];
} {
  const { tags = {}, allowed_integrations = [] } = JSON.parse(body);
  return { tags, allowed_integrations };
}

function listed({ id, connectionId, integration, tags }: NangoConnection): Record<string, unknown> {
  return {
    id,
    connection_id: connectionId,
    provider: integration,
    provider_config_key: integration,
    created: new Date(0).toISOString(),
    metadata: null,
    tags,
    errors: [],
  };
}

function full(connection: NangoConnection): Record<string, unknown> {
  const { accessToken, connectionConfig } = connection;
  const now = new Date().toISOString();
  return {
    ...listed(connection),
    metadata: {},
    connection_config: connectionConfig,
    created_at: now,
    updated_at: now,
    last_fetched_at: now,
    credentials: {
      type: "OAUTH2",
      access_token: accessToken,
      expires_at: new Date(Date.now() + TOKEN_LIFE_MS).toISOString(),
      raw: { access_token: accessToken },
    },
  };
}

function connectPage(url: URL): DoubleResponse {
  const token = encodeURIComponent(url.searchParams.get("session_token") ?? "");
  return page(`<a id="connect" href="/connect-ui/approve?session_token=${token}">Connect</a>`);
}

function page(content: string): DoubleResponse {
  return {
    headers: { "content-type": "text/html; charset=utf-8" },
    body: `<!doctype html><title>Broker</title>${content}`,
  };
}
