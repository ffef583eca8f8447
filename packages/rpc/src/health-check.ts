import { BinaryReader } from "@bufbuild/protobuf/wire";
import { status as Code } from "@grpc/grpc-js";
import type { Client, Metadata } from "@grpc/grpc-js";

const SERVING = 1;
export const HEALTH_CHECK = "/grpc.health.v1.Health/Check";

/**
 * The answer of a server's health service: serving, not serving, or a token that is worth nothing.
 */
export type ServerHealth = "serving" | "away" | "refuses-token";

/**
 * Asks the standard health service about the whole server. The service also judges the token in the
 * metadata. The two messages are one optional string and one enum, so they are encoded here. Never
 * rejects.
 */
export function checkHealth(
  client: Client,
  timeoutMs: number,
  metadata: Metadata,
): Promise<ServerHealth> {
  return new Promise((resolve) => {
    client.makeUnaryRequest(
      HEALTH_CHECK,
      () => Buffer.alloc(0),
      readStatus,
      undefined,
      metadata,
      { deadline: Date.now() + timeoutMs },
      (error, status) => {
        if (error?.code === Code.UNAUTHENTICATED) resolve("refuses-token");
        else resolve(error === null && status === SERVING ? "serving" : "away");
      },
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
