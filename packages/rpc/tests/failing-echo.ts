import { Client, credentials, Metadata } from "@grpc/grpc-js";
import type { ServiceError } from "@grpc/grpc-js";
import { rpc } from "../src/index.ts";
import { alice, EchoService, minter, startEcho } from "./support.ts";
import type { Word } from "./support.ts";

/** An echo server whose `Say` throws what `makeError` makes. */
export function startThrowing(
  makeError: () => Error,
  options: Parameters<typeof startEcho>[1] = {},
) {
  const say = rpc<Word, Word>({
    scopes: "words:read",
    handler: async () => {
      throw makeError();
    },
  });
  return startEcho({ say }, options);
}

/** Calls `Say` by grpc-js alone and returns the failed status as received. */
export async function rawStatus(address: string, message = Buffer.from('{"text":""}')) {
  const client = new Client(address, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${await minter.mint(alice)}`);
  const status = await new Promise<ServiceError>((resolve, reject) => {
    const done = (error: ServiceError | null): void =>
      error === null ? reject(new Error("The call succeeded.")) : resolve(error);
    const same = (bytes: Buffer): Buffer => bytes;
    client.makeUnaryRequest(EchoService.say.path, same, same, message, metadata, {}, done);
  });
  client.close();
  return status;
}
