import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { loadSync } from "@grpc/proto-loader";
import { z } from "zod";
import { AppError } from "@workflow/errors";
import { startThrowing, rawStatus } from "./failing-echo.ts";

describe("the status details", () => {
  it("can be read with the public google.rpc definitions", async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, "status.proto"), GOOGLE_RPC);
    const definition = loadSync("status.proto", { includeDirs: [folder.path], longs: Number });
    const codec = definition["test.Codec"];
    if (codec === undefined || "format" in codec) throw new Error("no codec");
    await using echo = await startThrowing(
      () =>
        new AppError("VALIDATION_ERROR", "Wrong.", {
          violations: [{ path: ["a", "0"], message: "is wrong" }],
          details: { n: 1 },
          retryAfterMs: 1_500,
        }),
    );

    const status = await rawStatus(echo.address);
    const bytes = status.metadata.get("grpc-status-details-bin")[0] ?? "";
    const decode = (type: string, value: unknown): unknown =>
      codec[type]?.requestDeserialize(Buffer.isBuffer(value) ? value : Buffer.alloc(0));
    const decoded = z
      .object({
        code: z.number(),
        message: z.string(),
        details: z.array(z.object({ value: z.unknown() })),
      })
      .parse(decode("Status", bytes));
    const types = ["ErrorInfo", "BadRequest", "RetryInfo"];
    const [info, badRequest, retry] = types.map((type, index) =>
      decode(type, decoded.details[index]?.value),
    );

    expect(decoded).toMatchObject({ code: 3, message: "Wrong." });
    expect(info).toMatchObject({
      reason: "VALIDATION_ERROR",
      domain: "workflow",
      metadata: { details: '{"n":1}' },
    });
    expect(badRequest).toEqual({
      fieldViolations: [{ field: '["a","0"]', description: "is wrong" }],
    });
    expect(retry).toEqual({ retryDelay: { seconds: 1, nanos: 500_000_000 } });
  });
});

async function temporaryFolder(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), "rpc-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) };
}

const GOOGLE_RPC = `
syntax = "proto3";
package test;
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
message Status { int32 code = 1; string message = 2; repeated google.protobuf.Any details = 3; }
message ErrorInfo { string reason = 1; string domain = 2; map<string, string> metadata = 3; }
message BadRequest {
  message FieldViolation { string field = 1; string description = 2; }
  repeated FieldViolation field_violations = 1;
}
message RetryInfo { google.protobuf.Duration retry_delay = 1; }
service Codec {
  rpc Status(Status) returns (Status);
  rpc ErrorInfo(ErrorInfo) returns (ErrorInfo);
  rpc BadRequest(BadRequest) returns (BadRequest);
  rpc RetryInfo(RetryInfo) returns (RetryInfo);
}
`;
