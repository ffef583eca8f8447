import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { Client, credentials, Metadata, status } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { startEcho } from "./support.ts";

let protoRoot: string;
beforeAll(async () => {
  protoRoot = await mkdtemp(join(tmpdir(), "rpc-"));
  await mkdir(join(protoRoot, "test/v1"), { recursive: true });
  await writeFile(join(protoRoot, "test/v1/echo.proto"), ECHO_PROTO);
});
afterAll(() => rm(protoRoot, { recursive: true }));

it("reflection lists the services and describes them, without a token", async () => {
  await using echo = await startEcho({}, { protoRoot });

  const [services, file] = await reflect(echo.address, [
    { list_services: "" },
    { file_containing_symbol: "test.v1.EchoService" },
  ]);

  expect(services).toMatchObject({
    list_services_response: { service: [{ name: "test.v1.EchoService" }] },
  });
  expect(file).toHaveProperty("file_descriptor_response.file_descriptor_proto.0");
});

it.each([
  ["127.0.0.1:0", undefined, true],
  ["localhost:0", undefined, true],
  ["unix", undefined, true],
  ["0.0.0.0:0", undefined, false],
  ["127.0.0.1:0", false, false],
  ["0.0.0.0:0", true, true],
])("reflection on %s, asked for: %s, is served: %s", async (where, reflection, isServed) => {
  const address = where === "unix" ? `unix:${join(protoRoot, "echo.sock")}` : where;
  const tls = "plain-text-allowed";
  await using echo = await startEcho({}, { protoRoot, address, reflection, tls });

  const asked = reflect(echo.address.replace("0.0.0.0", "127.0.0.1"), [{ list_services: "" }]);

  if (isServed) expect(await asked).toHaveLength(1);
  else await expect(asked).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
});

const ECHO_PROTO = `
syntax = "proto3";
package test.v1;
message Word { string text = 1; }
service EchoService {
  rpc Say(Word) returns (Word);
  rpc Repeat(Word) returns (stream Word);
}
`;

/** Sends requests to the reflection service, one stream each, and returns the answers. */
function reflect(address: string, requests: readonly object[]): Promise<unknown[]> {
  const packageFile = createRequire(import.meta.url).resolve("@grpc/reflection");
  const protoFile = join(dirname(packageFile), "../proto/grpc/reflection/v1/reflection.proto");
  const service = loadSync(protoFile, { keepCase: true })["grpc.reflection.v1.ServerReflection"];
  if (service === undefined || "format" in service) throw new Error("no reflection service");
  const method = service["ServerReflectionInfo"];
  if (method === undefined) throw new Error("no reflection method");

  return Promise.all(
    requests.map(async (request) => {
      const client = new Client(address, credentials.createInsecure());
      const call = client.makeBidiStreamRequest(
        method.path,
        method.requestSerialize,
        method.responseDeserialize,
        new Metadata(),
        { deadline: Date.now() + 10_000 },
      );
      call.end(request);
      try {
        const answers: unknown[] = [];
        for await (const answer of call) answers.push(answer);
        return answers[0];
      } finally {
        client.close();
      }
    }),
  );
}
