import { once } from "node:events";
import { Agent, get, IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { RunStatus } from "@workflow/proto/runs/v1/run";
import type { WatchRunRequest } from "@workflow/proto/runs/v1/runs";
import type { RpcContext } from "@workflow/rpc";
import { waitFor } from "@workflow/testkit";
import { z } from "zod";
import { createCompany } from "../src/admin/index.ts";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";
import { makeRun, RUN_ID } from "./support/messages.ts";

const PATH = `/api/v1/runs/${RUN_ID}/events`;
const EACH = 4;

let test: TestGateway;
let otherKey: string;

beforeAll(async () => {
  test = await startTestGateway({ connectionsMax: 16, companyConnectionsMax: EACH });
  otherKey = await keyOfNewCompany("other");
  test.backends.runs.watchRun = async function* (_request: WatchRunRequest, context: RpcContext) {
    yield {
      update: { $case: "run", value: makeRun({ status: RunStatus.RUNNING }) },
      position: "running.",
    };
    await new Promise((resolve) => {
      if (context.signal.aborted) resolve(undefined);
      context.signal.addEventListener("abort", resolve);
    });
  };
  test.backends.runs.getRun = async () => makeRun({ status: RunStatus.RUNNING });
});
afterAll(() => test.close());

/** Of a company whose earlier requests have left no connection that a later one could use. */
async function keyOfNewCompany(name: string): Promise<string> {
  const email = `owner@${name}.example`;
  const { apiKey } = await createCompany(test.database, { name, email, password: "correct horse" });
  return apiKey;
}

/** Opens streams on connections of their own. */
async function openStreams(count: number, key: string, stop: AbortSignal): Promise<Response[]> {
  const responses: Response[] = [];
  for (let opened = 0; opened < count; opened += 1) {
    responses.push(await fetch(test.url + PATH, { headers: { "x-api-key": key }, signal: stop }));
  }
  return responses;
}

const read = (key: string) => call(test, "GET", `/api/v1/runs/${RUN_ID}`, { key });

/** Reads on a new connection that could serve more requests; one that has served others would stay. */
async function readAlone(key: string) {
  const agent = new Agent({ keepAlive: true });
  const request = get(`${test.url}/api/v1/runs/${RUN_ID}`, {
    agent,
    headers: { "x-api-key": key },
  });
  const [response] = z
    .tuple([z.instanceof(IncomingMessage)])
    .parse(await once(request, "response"));
  const body: unknown = await json(response);
  agent.destroy();
  return { status: response.statusCode, headers: response.headers, body };
}

describe("the connections of one company (M10)", () => {
  it("are so many; the next one is told to come again, and other companies go on", async () => {
    const stop = new AbortController();
    const streams = await openStreams(EACH, test.company.apiKey, stop.signal);
    expect(streams.map(({ status }) => status)).toEqual(Array.from({ length: EACH }, () => 200));
    const refused = await readAlone(test.company.apiKey);
    expect(refused).toMatchObject({
      status: 429,
      body: { error: { code: "RATE_LIMITED", details: { limit: "connections" } } },
    });
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect(refused.headers.connection).toBe("close");
    expect((await read(otherKey)).status).toBe(200);
    stop.abort();
    await waitFor(async () => (await read(test.company.apiKey)).status === 200);
  });

  it("include requests that are sent before earlier ones of their connection were answered", async () => {
    const key = await keyOfNewCompany("pipelining");
    const socket = connect(test.gateway.port, "127.0.0.1");
    const head = `GET ${PATH} HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${key}\r\n\r\n`;
    socket.write(head.repeat(EACH));
    await heard(socket, "event: run");
    await waitFor(async () => (await read(key)).status === 429);
    socket.destroy();
    await waitFor(async () => (await read(key)).status === 200);
  });

  it("stay counted while their requests wait, when the connection goes on to another company", async () => {
    const firstKey = await keyOfNewCompany("first");
    const secondKey = await keyOfNewCompany("second");
    const socket = connect(test.gateway.port, "127.0.0.1");
    const keys = Array.from({ length: EACH }, () => [firstKey, secondKey]).flat();
    // Each company's requests alone are as many as it may have connections.
    for (const key of keys) {
      socket.write(`GET ${PATH} HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${key}\r\n\r\n`);
    }
    await heard(socket, "event: run");
    await waitFor(async () => (await read(firstKey)).status === 429);
    await waitFor(async () => (await read(secondKey)).status === 429);
    socket.destroy();
    await waitFor(async () => (await read(firstKey)).status === 200);
    await waitFor(async () => (await read(secondKey)).status === 200);
  });

  it("belong to whom they serve at present", async () => {
    const servedKey = await keyOfNewCompany("served");
    const stop = new AbortController();
    await openStreams(EACH - 1, servedKey, stop.signal);
    // A proxy's connection carries requests of several companies in turn.
    const socket = connect(test.gateway.port, "127.0.0.1");
    for (const key of [servedKey, test.company.apiKey]) {
      const path = `/api/v1/runs/${RUN_ID}`;
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${key}\r\n\r\n`);
      await heard(socket, "HTTP/1.1 200");
    }
    expect((await read(servedKey)).status).toBe(200);
    stop.abort();
    socket.destroy();
  });
});

function heard(socket: Socket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = "";
    const onData = (chunk: Buffer): void => {
      received += chunk.toString();
      if (!received.includes(text)) return;
      socket.off("data", onData);
      resolve();
    };
    socket.on("data", onData);
    socket.once("error", reject);
  });
}
