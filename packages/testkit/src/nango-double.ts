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
  /** Null for a connection without tags. */
  tags: Readonly<Record<string, string>> | null;
  accessToken: string;
  connectionConfig: Record<string, unknown>;
  /** Whether the provider refuses the refresh token: the broker then answers 424. */
  exhausted: boolean;
  /** How often the token was refreshed. */
  refreshes: number;
}

/** The broker, as its published document describes it. */
export interface NangoDouble {
  url: string;
  secretKey: string;
  requests: HttpDouble["requests"];
  /** The trouble that replaces answers of the API; null for none. */
  trouble: Trouble | null;
  /**
   * How far connections have tags: lists are filtered by tags, or tags are only listed, or neither sessions nor
   * lists know tags.
   */
  tagging: "filtered" | "listed" | "unknown";
  readonly connections: NangoConnection[];
  /** Connects an account as a person with the connect link does. */
  approve(connectLink: string, config?: Record<string, unknown>): NangoConnection;
  close(): Promise<void>;
}

interface Session {
  integrations: readonly string[];
  tags: Readonly<Record<string, string>>;
}

/** The data of the broker. */
interface Store {
  readonly integrations: readonly string[];
  readonly sessions: Map<string, Session>;
  readonly connections: NangoConnection[];
}

/** The life of an access token at the broker. */
const TOKEN_LIFE_MS = 3_600_000;

/**
 * Starts a server that answers as Nango's API does (`docs/spec.yaml` of NangoHQ/nango): connect
 * sessions, connections by tag and by id, deletion. Its connect page has one link, `Connect`.
 *
 * @param integrations the ids that are set up there
 */
export async function startNangoDouble(integrations: readonly string[]): Promise<NangoDouble> {
  const secretKey = randomUUID();
  const store: Store = { integrations, sessions: new Map(), connections: [] };
  const http = await startHttpDouble((request, response) => {
    const url = new URL(request.path, "http://double");
    if (url.pathname === "/connect-ui") return connectPage(url);
    if (url.pathname === "/connect-ui/approve") {
      approve(store, url.href);
      return page("Connected. You may close this tab.");
    }
    if (double.trouble !== null) return answerTroubled(double.trouble, response);
    return request.headers.authorization === `Bearer ${secretKey}`
      ? answerApi(double, store, request)
      : { status: 401, body: { error: { code: "unauthorized", message: "Bad key" } } };
  });
  const double: NangoDouble = {
    url: http.url,
    secretKey,
    requests: http.requests,
    trouble: null,
    tagging: "filtered",
    connections: store.connections,
    approve: (connectLink, config) => approve(store, connectLink, config),
    close: () => http.close(),
  };
  return double;
}

function answerApi(
  { url: origin, tagging }: NangoDouble,
  store: Store,
  { method, path, body }: RecordedRequest,
): DoubleResponse {
  const url = new URL(path, origin);
  const call = `${method} ${url.pathname.replace(/(?<=^\/connections\/).+/, "{id}")}`;
  switch (call) {
    case "POST /connect/sessions":
      return tagging === "unknown" ? refuseTags() : createSession(store, origin, body);
    case "GET /connections":
      return { body: { connections: listConnections(store, tagging, url) } };
    case "GET /connections/{id}":
      return withConnection(store, url, (connection) => getConnection(connection, url));
    case "DELETE /connections/{id}":
      return withConnection(store, url, (connection) => {
        store.connections.splice(store.connections.indexOf(connection), 1);
        return { body: { success: true } };
      });
    default:
      return { status: 404, body: { error: { code: "not_found" } } };
  }
}

function refuseTags(): DoubleResponse {
  const errors = [{ code: "unrecognized_keys", message: 'Unrecognized key: "tags"', path: [] }];
  return { status: 400, body: { error: { code: "invalid_body", errors } } };
}

function createSession(
  { integrations, sessions }: Store,
  origin: string,
  body: string,
): DoubleResponse {
  const { tags, allowed_integrations: allowed } = readSession(body);
  const unknown = allowed.filter((id) => !integrations.includes(id));
  if (unknown.length > 0) {
    const message = `Integration ${unknown.join()} does not exist`;
    return { status: 400, body: { error: { code: "invalid_body", errors: [{ message }] } } };
  }
  const token = `nango_connect_session_${randomUUID()}`;
  sessions.set(token, { integrations: allowed, tags });
  const expiresAt = new Date(Date.now() + 1_800_000).toISOString();
  const link = `${origin}/connect-ui?session_token=${token}`;
  return { status: 201, body: { data: { token, connect_link: link, expires_at: expiresAt } } };
}

function listConnections(
  { connections }: Store,
  tagging: NangoDouble["tagging"],
  url: URL,
): Record<string, unknown>[] {
  if (tagging === "listed") return connections.map(listed);
  if (tagging === "unknown") {
    return connections.map((each) => listed({ ...each, tags: undefined }));
  }
  const wanted = [...url.searchParams].flatMap(([name, value]) => {
    const tag = /^tags\[(.+)\]$/.exec(name)?.[1];
    return tag === undefined ? [] : [[tag, value] as const];
  });
  const id = url.searchParams.get("connectionId");
  return connections
    .filter(({ tags }) => wanted.every(([name, value]) => tags?.[name] === value))
    .filter(({ connectionId }) => id === null || id === connectionId)
    .map(listed);
}

function withConnection(
  { connections }: Store,
  url: URL,
  answer: (connection: NangoConnection) => DoubleResponse,
): DoubleResponse {
  const id = decodeURIComponent(url.pathname.slice("/connections/".length));
  const key = url.searchParams.get("provider_config_key");
  const found = connections.find((each) => each.connectionId === id && each.integration === key);
  return found === undefined
    ? { status: 404, body: { error: { code: "not_found", message: "No such connection" } } }
    : answer(found);
}

function getConnection(connection: NangoConnection, url: URL): DoubleResponse {
  if (connection.exhausted) {
    const message = "The external API returned an error when trying to refresh the token";
    return { status: 424, body: { error: { code: "refresh_token_external_error", message } } };
  }
  if (url.searchParams.get("force_refresh") === "true") {
    connection.refreshes += 1;
    connection.accessToken = `broker-token-${randomUUID()}`;
  }
  return { body: full(connection) };
}

function approve(
  { sessions, connections }: Store,
  connectLink: string,
  config: Record<string, unknown> = {},
): NangoConnection {
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
}

function readSession(body: string): {
  tags: Record<string, string>;
  allowed_integrations: string[];
} {
  const { tags = {}, allowed_integrations = [] } = JSON.parse(body);
  return { tags, allowed_integrations };
}

function listed({
  id,
  connectionId,
  integration,
  tags,
}: Omit<NangoConnection, "tags"> & { tags: NangoConnection["tags"] | undefined }): Record<
  string,
  unknown
> {
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
