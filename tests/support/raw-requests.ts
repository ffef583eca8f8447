import { Agent, request as httpRequest } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { ReceivedHeaders } from "./description/answer-headers.ts";
import { judgeAnswer } from "./description/watch-answers.ts";
import type { WholeSystem } from "./whole-system.ts";

/** An answer, whatever it is made of. */
export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Of events that go on and on: only the first of them. */
  text: string;
}

/** A request in the characters in which it is sent. */
export interface RawRequest {
  method: string;
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | undefined;
  from?: string;
}

/** For what never comes. */
const ANSWER_DEADLINE_MS = 30_000;

const LOOPBACK = "127.0.0.1";
const agent = new Agent({ keepAlive: true });

/**
 * Sends a request below the API's base, as its characters are; rejects when nothing comes for a long time.
 *
 * @param from an address of this machine: of one, sign-ins and callbacks are limited
 */
export function sendRaw(
  { origin }: Pick<WholeSystem, "origin">,
  { method, path, headers = {}, body, from = LOOPBACK }: RawRequest,
): Promise<RawAnswer> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      hostname,
      port,
      method,
      // A sender of its own sends once: thousands of kept connections would use up the company's share.
      agent: from === LOOPBACK ? agent : false,
      localAddress: from,
      path: `/api/v1${path}`,
      signal: AbortSignal.timeout(ANSWER_DEADLINE_MS),
      headers: {
        ...(body !== undefined && {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
        }),
        ...headers,
      },
    });
    request.on("error", reject);
    request.on("response", (response) => {
      readText(response)
        .then(async (text) => {
          const answer = { status: response.statusCode ?? 0, headers: response.headers, text };
          await judge(method, path, answer);
          resolve(answer);
        })
        .catch(reject);
    });
    request.end(body);
  });
}

/** The next address of this machine that nobody has sent from. */
export function createSenders(): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `127.1.${count >> 8}.${count & 255}`;
  };
}

/** Like what comes by `fetch` in all tests. */
async function judge(
  method: string,
  path: string,
  { status, headers, text }: RawAnswer,
): Promise<void> {
  const pathname = `/api/v1${path.split("?")[0]}`;
  // Of events there is only the beginning.
  const body = isEvents(headers) ? null : text;
  await judgeAnswer({ method, pathname, status, headers: headersOf(headers), body });
}

/** The headers of an answer as `fetch` would have them. */
export function headersOf(headers: IncomingHttpHeaders): ReceivedHeaders {
  return { get: (name) => headers[name.toLowerCase()]?.toString() ?? null };
}

function isEvents(headers: IncomingHttpHeaders): boolean {
  return headers["content-type"]?.startsWith("text/event-stream") === true;
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) {
    chunks.push(Buffer.from(chunk));
    if (isEvents(response.headers)) break;
  }
  return Buffer.concat(chunks).toString();
}
