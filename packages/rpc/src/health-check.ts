import { BinaryReader } from "@bufbuild/protobuf/wire";
import { Metadata } from "@grpc/grpc-js";
import type { Client } from "@grpc/grpc-js";

const SERVING = 1;

/**
 * Asks the standard health service about the whole server. The two messages are one optional string
 * and one enum, so they are encoded here.
 */
export function checkServing(client: Client, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      "/grpc.health.v1.Health/Check",
      () => Buffer.alloc(0),
      readStatus,
      undefined,
      new Metadata(),
      { deadline: Date.now() + timeoutMs },
      (error, status) => resolve(error === null && status === SERVING),
    );
  });
}

function readStatus(bytes: Buffer): number {
  const reader = new BinaryReader(bytes);
  let status = 0;
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === 1) status = reader.int32();
    else reader.skip(type, field);
  }
  return status;
}
