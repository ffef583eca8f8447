import { createHmac, timingSafeEqual } from "node:crypto";
import { openSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import type { IncomingHttpHeaders } from "node:http";
import { Webhook } from "standardwebhooks";
import { z } from "zod";
import { receiverStart } from "./delivery-log.ts";
import type { ReceivedDelivery, ReceiverStart } from "./delivery-log.ts";

/*
 * Takes deliveries, checks their signatures in two ways, and writes each into a file before it answers, so that a
 * delivery that was answered is in the file even when this process is killed. Started by delivery-receiver.ts.
 */

process.once("disconnect", () => process.exit());
process.once("message", (message) => {
  serve(receiverStart.parse(message));
});

const bodySchema = z.object({ id: z.string(), type: z.string(), runId: z.string() });

function serve({ port, file, secrets }: ReceiverStart): void {
  const log = openSync(file, "a");
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.once("end", () => {
      const path = request.url ?? "";
      const delivery = read(path, request.headers, Buffer.concat(chunks), secrets[path] ?? "");
      writeSync(log, `${JSON.stringify(delivery)}\n`);
      response.writeHead(200).end("ok");
    });
  });
  server.listen(port, "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object" && address !== null) process.send?.({ port: address.port });
  });
}

function read(
  path: string,
  headers: IncomingHttpHeaders,
  body: Buffer,
  secret: string,
): ReceivedDelivery {
  const { id, type, runId } = bodySchema.parse(JSON.parse(body.toString()));
  const isSame = id === header(headers, "x-webhook-id") && id === header(headers, "webhook-id");
  const isSigned = isOurs(headers, body, secret) && isStandard(headers, body, secret);
  return { path, id, type, runId, isValid: isSame && isSigned };
}

/** As our documentation tells receivers to. */
function isOurs(headers: IncomingHttpHeaders, body: Buffer, secret: string): boolean {
  const match = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header(headers, "x-webhook-signature"));
  if (match === null || match[1] !== header(headers, "x-webhook-timestamp")) return false;
  const [, timestamp = "", signature = ""] = match;
  const expected = createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest();
  return timingSafeEqual(expected, Buffer.from(signature, "hex"));
}

/** As receivers do that use the library of Standard Webhooks. */
function isStandard(headers: IncomingHttpHeaders, body: Buffer, secret: string): boolean {
  const named = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => [
    name,
    header(headers, name),
  ]);
  try {
    new Webhook(secret).verify(body, Object.fromEntries(named));
    return true;
  } catch {
    return false;
  }
}

function header(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return typeof value === "string" ? value : "";
}
