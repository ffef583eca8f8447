import { Shares } from "@workflow/async";
import type { Database } from "@workflow/db";
import { AppError } from "@workflow/errors";
import type { HttpTls } from "@workflow/rpc";
import type { Request, RequestHandler, Response } from "express";
import { clientNetworkOf } from "../http/client-network.ts";
import { askForBody } from "../http/expected-continue.ts";
import { checkHeadSize } from "../http/head-size.ts";
import { answerOptions, wrongMethod } from "../http/methods.ts";
import { checkAnnouncedSize } from "../http/read-body.ts";
import { afterAnswer, requestInfoOf } from "../http/request-info.ts";
import type { RequestInfo } from "../http/request-info.ts";
import type { RateLimits } from "../rate-limits/rate-limits.ts";
import { prepareHeaders } from "./forwarded-headers.ts";
import { INBOUND_BASE } from "../http/inbound-base.ts";
import { createKnownCompanies } from "./known-companies.ts";
import type { KnownCompanies } from "./known-companies.ts";
import { createInboundProxy } from "./proxy.ts";

export interface InboundOptions {
  /** `host:port` of the webhooks service's HTTP server. */
  address: string;
  /** TLS to the service; undefined means plain text. */
  tls?: HttpTls | undefined;
  /** Counts the requests of each client. */
  rateLimits: RateLimits;
  publicUrl: string | undefined;
  database: Database;
  /**
   * The time limit of a request, from its forwarding to the answer, in milliseconds; 30,000 by
   * default.
   */
  timeoutMs?: number | undefined;
}

/** The inbound webhooks of a running gateway. */
export interface Inbound {
  serve: RequestHandler;
  close(): void;
}

const BYTES_MAX = 1024 * 1024;
const METHODS = ["POST"];
const TIMEOUT_MS = 30_000;
const RETRY_AFTER_MS = 1_000;
/**
 * The limits of concurrent requests, each of which holds a connection to the service: of a client,
 * of a company's own routes, and in all. A slow sender holds its place for TIMEOUT_MS at most. One
 * client alone cannot take all places of a company.
 */
const UNDER_WAY = { total: 1_024, perClient: 128, perCompany: 256 };

/**
 * Serves inbound webhooks: limits them, and forwards them to the webhooks service unchanged. The
 * service verifies the sender; errors are `{error}`.
 */
export function createInbound(options: InboundOptions): Inbound {
  const { database, publicUrl, rateLimits, timeoutMs = TIMEOUT_MS } = options;
  const { total, perClient, perCompany } = UNDER_WAY;
  const ofClients = new Shares({ total, perTenant: perClient });
  const ofCompanies = new Shares({ total, perTenant: perCompany });
  const companies = createKnownCompanies(database);
  const proxy = createInboundProxy({
    address: options.address,
    tls: options.tls,
    base: INBOUND_BASE,
    bytesMax: BYTES_MAX,
    timeoutMs,
  });

  return {
    async serve(request, response) {
      const info = requestInfoOf(request);
      info.route = `${INBOUND_BASE}/{provider}`;
      if (request.path === "/") throw new AppError("NOT_FOUND", "Not found");
      if (request.method === "OPTIONS") return answerOptions(response, METHODS);
      if (request.method !== "POST") throw wrongMethod(response, METHODS);
      const client = clientNetworkOf(info.client.ipAddress);
      await rateLimits.admitInbound(client);
      acquireSlot(ofClients, client, response);
      checkHeadSize(request, false);
      checkAnnouncedSize(request, BYTES_MAX);
      const companyId = await findCompany(request, info, companies);
      if (companyId !== null) acquireSlot(ofCompanies, companyId, response);
      prepareHeaders(request, info, publicUrl);
      askForBody(request);
      proxy.forward(request, response);
    },
    close: () => proxy.close(),
  };
}

/** Takes a place until the request is over. */
function acquireSlot(shares: Shares, holder: string, response: Response): void {
  const giveBack = shares.take(holder);
  if (giveBack === null) {
    const message = "Too many webhooks are under way. Send the event again shortly.";
    throw new AppError("RATE_LIMITED", message, { retryAfterMs: RETRY_AFTER_MS });
  }
  afterAnswer(response, giveBack);
}

/** The company of a custom route; null on the routes of providers. */
async function findCompany(
  request: Request,
  info: RequestInfo,
  companies: KnownCompanies,
): Promise<string | null> {
  const [, provider, companyId] = decodePath(request.path);
  if (provider === undefined || provider === "") throw new AppError("NOT_FOUND", "Not found");
  if (provider !== "custom" || companyId === undefined) return null;
  info.route = `${INBOUND_BASE}/custom/{companyId}/{path}`;
  const known = await companies.find(companyId);
  if (known === null) throw new AppError("NOT_FOUND", "Company not found");
  info.companyId = known;
  return known;
}

function decodePath(path: string): string[] {
  try {
    return path.split("/").map(decodeURIComponent);
  } catch (cause) {
    throw new AppError("BAD_REQUEST", "The path must be percent-encoded UTF-8.", { cause });
  }
}
