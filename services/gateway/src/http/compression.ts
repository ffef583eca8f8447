import type { ServerResponse } from "node:http";
import type { Transform } from "node:stream";
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from "node:zlib";
import { LRUCache } from "lru-cache";
import { Shares } from "@workflow/async";
import { codedTag } from "./entity-tags.ts";

/** Shorter answers fit into one packet with their head anyway. */
export const COMPRESSED_CHARS_MIN = 1_024;

/**
 * A content coding (RFC 9110, section 8.4.1), in the order of preference where a client likes both
 * alike.
 */
const CODINGS = ["br", "gzip"] as const;
type Coding = (typeof CODINGS)[number];

/**
 * The fastest levels. On run documents Brotli packs 390 MB a second into 17 %, gzip 190 MB into 19
 * %; the next level takes twice the time and saves one percent (ADR 48).
 */
const LEVELS: Readonly<Record<Coding, number>> = { br: 1, gzip: 1 };

/**
 * The number of answers that are compressed at the same time. Each may occupy one of the process's
 * four pool threads, which sign-in and name lookups need as well. A company has half of these
 * places; without a place an answer goes out uncompressed.
 */
const PLACES = 8;

const ACCEPTED_MAX = 1_000;
/**
 * Clients send shorter headers than this. Longer ones are not cached, so that strangers cannot fill
 * the memory.
 */
const ACCEPTED_CHARS_MAX = 128;
const PIECE_BYTES_MAX = 256 * 1024;

/** An answer that is being compressed. */
export interface Compression {
  /** Compresses a whole body. */
  compress(text: string, then: (error: Error | null, bytes: Buffer) => void): void;
  /** A stream that compresses what is written to it and flushes each write. */
  createStream(): Transform;
  /** Releases the place when the answer is over. */
  readonly giveBack: () => void;
}

/** Compresses answers for clients that accept it, while there are places. */
export class Compressor {
  readonly #shares = new Shares({ total: PLACES, perTenant: PLACES });
  readonly #accepted = new LRUCache<string, { coding: Coding | null }>({ max: ACCEPTED_MAX });

  /** The coding that the client prefers; null when it wants none. */
  codingFor({ req: { headers } }: ServerResponse): Coding | null {
    const header = headers["accept-encoding"];
    if (header === undefined) return null;
    const known = this.#accepted.get(header)?.coding;
    if (known !== undefined) return known;
    const coding = bestCoding(header);
    if (header.length <= ACCEPTED_CHARS_MAX) this.#accepted.set(header, { coding });
    return coding;
  }

  /**
   * Begins to compress an answer: takes a place and sets the headers. Null when there is no place.
   *
   * @param holder the company, which has at most half of the places
   */
  begin(response: ServerResponse, coding: Coding, holder: string): Compression | null {
    const giveBack = this.#shares.take(holder);
    if (giveBack === null) return null;
    announceCoding(response, coding);
    return {
      giveBack,
      compress: (text, then) => {
        if (coding === "br") brotliCompress(text, brotliOptions(text.length), then);
        else gzip(text, { level: LEVELS.gzip, chunkSize: pieceSize(text.length) }, then);
      },
      createStream: () =>
        coding === "br"
          ? createBrotliCompress({ ...brotliOptions(), flush: constants.BROTLI_OPERATION_FLUSH })
          : createGzip({ level: LEVELS.gzip, flush: constants.Z_SYNC_FLUSH }),
    };
  }
}

/** Sets the headers of a compressed answer, with the entity tag of that form. */
export function announceCoding(response: ServerResponse, coding: Coding): void {
  response.setHeader("Content-Encoding", coding);
  const etag = response.getHeader("ETag");
  if (typeof etag === "string") response.setHeader("ETag", codedTag(etag, coding));
}

function brotliOptions(chars?: number) {
  return {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: LEVELS.br,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      ...(chars !== undefined && { [constants.BROTLI_PARAM_SIZE_HINT]: chars }),
    },
    ...(chars !== undefined && { chunkSize: pieceSize(chars) }),
  };
}

/** Each piece costs a round trip to another thread, so most answers should fit into one. */
function pieceSize(chars: number): number {
  return Math.min(PIECE_BYTES_MAX, Math.max(COMPRESSED_CHARS_MIN, chars >> 1));
}

/** Parses `Accept-Encoding` (RFC 9110, section 12.5.3). */
function bestCoding(header: string): Coding | null {
  const weights = new Map<string, number>();
  for (const item of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
    weights.set(name, /^[01](?:\.\d{0,3})?$/.test(weight) ? Number(weight) : 0);
  }
  const weightOf = (coding: Coding): number => weights.get(coding) ?? weights.get("*") ?? 0;
  const [best] = CODINGS.toSorted((one, other) => weightOf(other) - weightOf(one));
  // A client that prefers the plain form lists `identity` with the higher weight.
  const plain = weights.get("identity") ?? 0;
  return best !== undefined && weightOf(best) > 0 && weightOf(best) >= plain ? best : null;
}
