import { Writable } from "node:stream";
import { createTestTokens, waitFor } from "@workflow/testkit";
import pino from "pino";
import type { Logger } from "pino";
import {
  createRpcClient,
  createRpcServer,
  createTokenVerifier,
  rpc,
  rpcClientStream,
  rpcServerStream,
} from "../src/index.ts";
import type {
  Identity,
  Implementation,
  RequestOutcome,
  RevokedTokens,
  RpcClient,
  RpcServer,
  RpcServerOptions,
} from "../src/index.ts";

export interface Word {
  text: string;
}

function toJson(value: Word): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function fromJson(bytes: Buffer): Word {
  const value: unknown = JSON.parse(bytes.toString());
  if (typeof value === "object" && value !== null && "text" in value) {
    return { text: String(value.text) };
  }
  throw new Error("not a word");
}

const codec = {
  requestStream: false as const,
  requestSerialize: toJson,
  requestDeserialize: fromJson,
  responseSerialize: toJson,
  responseDeserialize: fromJson,
};

/** The shape that ts-proto generates, with JSON on the wire. */
export const EchoService = {
  say: { ...codec, path: "/test.v1.EchoService/Say" as const, responseStream: false as const },
  repeat: { ...codec, path: "/test.v1.EchoService/Repeat" as const, responseStream: true as const },
  join: {
    ...codec,
    path: "/test.v1.EchoService/Join" as const,
    requestStream: true as const,
    responseStream: false as const,
  },
} as const;

export type EchoImplementation = Implementation<typeof EchoService>;

export const tokens = createTestTokens();
export const signer = tokens.signerOf("gateway");
/** The service name of the echo server. */
export const audience = "runs";
export const minter = tokens.minterTo(audience);
/** A list without revoked tokens. */
export const NONE_REVOKED: RevokedTokens = { has: async () => false };
export const verifier = createTokenVerifier({
  audience,
  publicKeys: tokens.publicKeys,
  revoked: NONE_REVOKED,
});

export const alice: Identity = {
  companyId: "company-1",
  principal: { type: "user", id: "user-1", name: "Alice" },
  scopes: ["words:read", "words:write"],
};

/** Handlers that echo; each test overrides those under test. */
export const echo: EchoImplementation = {
  say: rpc({ scopes: "words:read", handler: async (request) => request }),
  repeat: rpcServerStream({
    scopes: "words:read",
    async *handler({ text }) {
      for (const part of text.split(" ")) yield { text: part };
    },
  }),
  join: rpcClientStream({
    scopes: "words:write",
    async handler(words) {
      const texts: string[] = [];
      for await (const { text } of words) texts.push(text);
      return { text: texts.join(" ") };
    },
  }),
};

export interface Echo extends AsyncDisposable {
  server: RpcServer;
  client: RpcClient<typeof EchoService>;
  address: string;
  /** The parsed log lines. */
  logged: Record<string, unknown>[];
  outcomes: RequestOutcome[];
}

/** A server on a free port and a client connected to it. */
export async function startEcho(
  implementation: Partial<EchoImplementation> = {},
  options: Partial<RpcServerOptions> & { address?: string } = {},
): Promise<Echo> {
  const logged: Record<string, unknown>[] = [];
  const outcomes: RequestOutcome[] = [];
  const server = createRpcServer({
    logger: recordingLogger(logged),
    verifier,
    onRequest: (outcome) => outcomes.push(outcome),
    ...options,
  });
  server.add(EchoService, { ...echo, ...implementation });
  const { address } = await server.listen(options.address ?? "127.0.0.1:0");
  server.setServing(true);
  // Some test servers listen on all addresses, but still on this machine.
  const client = createRpcClient(EchoService, { address, minter, tls: "plain-text-allowed" });
  return {
    server,
    client,
    address,
    logged,
    outcomes,
    async [Symbol.asyncDispose]() {
      client.close();
      await server.close(0);
    },
  };
}

function recordingLogger(lines: Record<string, unknown>[]): Logger {
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()));
      done();
    },
  });
  return pino({ level: "debug" }, stream);
}

/** The error that a promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error("The promise was expected to reject.");
    },
    (error: unknown) => error,
  );
}

/**
 * Repeats a call with ever longer time limits until its handler has begun. A busy machine could otherwise end the
 * call before its handler. Returns the error of the last call.
 *
 * @param call gets the time limit in milliseconds
 */
export async function rejectionOnceBegun(
  hasBegun: () => boolean,
  call: (limitMs: number) => Promise<unknown>,
): Promise<unknown> {
  for (let limitMs = 100; ; limitMs *= 2) {
    const error = await rejection(call(limitMs));
    if (hasBegun()) return error;
  }
}

/** Waits until the value is stable, and returns it. */
export async function settled(read: () => number): Promise<number> {
  let last = -1;
  let same = 0;
  await waitFor(() => {
    same = read() === last ? same + 1 : 0;
    last = read();
    return same >= 10;
  });
  return last;
}

/** Endless words, and whether their iterable was closed. */
export function endless() {
  let isClosed = false;
  function* words(): Generator<Word> {
    try {
      for (;;) yield { text: "again" };
    } finally {
      isClosed = true;
    }
  }
  return { words: words(), isClosed: () => isClosed };
}
