import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";
import { makeStarted, makeWorkflow, WORKFLOW_ID } from "./support/messages.ts";

let test: TestGateway;
const sockets: Socket[] = [];

beforeAll(async () => {
  test = await startTestGateway();
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => test.close());

/** A connection on which a test says every byte itself, and can end its side alone. */
async function open(): Promise<{
  socket: Socket;
  received: () => string;
  isClosed: () => boolean;
}> {
  const socket = connect({ port: test.gateway.port, host: "127.0.0.1", allowHalfOpen: true });
  sockets.push(socket);
  let received = "";
  let isClosed = false;
  socket.setEncoding("utf8");
  socket.on("data", (chunk: string) => (received += chunk));
  socket.on("close", () => (isClosed = true));
  socket.on("error", () => {});
  await once(socket, "connect");
  return { socket, received: () => received, isClosed: () => isClosed };
}

function requestOf(method: "GET" | "POST", path: string): string {
  const lines = [`${method} /api/v1${path} HTTP/1.1`, "Host: x"];
  lines.push(`X-Api-Key: ${test.company.apiKey}`);
  if (method === "GET") return [...lines, "", ""].join("\r\n");
  const body = '{"input":{}}';
  lines.push("Content-Type: application/json", `Content-Length: ${body.length}`);
  return [...lines, "", body].join("\r\n");
}

/** A call that is answered when the test says so; `begun` waits until the service has it. */
function holdCall<Answer>() {
  let received: AbortSignal | null = null;
  const answer = Promise.withResolvers<Answer>();
  const handler = (_request: unknown, { signal }: { signal: AbortSignal }): Promise<Answer> => {
    received = signal;
    return answer.promise;
  };
  return { begun: () => waitFor(() => received), answer, handler };
}

it("a question to an agent is given up when its client ends its side", async () => {
  const held = holdCall<never>();
  test.backends.agents.executeAgent = held.handler;
  const client = await open();
  client.socket.write(requestOf("POST", "/agents/agent_content/execute"));
  const signal = await held.begun();
  expect(signal.aborted).toBe(false);
  client.socket.end();
  await waitFor(() => signal.aborted && client.isClosed());
  expect(client.received()).toBe("");
});

it("other changes are answered to a client that has ended its side", async () => {
  const held = holdCall<ReturnType<typeof makeStarted>>();
  test.backends.runs.startRun = held.handler;
  const client = await open();
  client.socket.end(requestOf("POST", `/workflows/${WORKFLOW_ID}/run`));
  const signal = await held.begun();
  held.answer.resolve(makeStarted());
  await waitFor(() => client.isClosed());
  expect(client.received()).toMatch(/^HTTP\/1\.1 202 /);
  expect(signal.aborted).toBe(false);
});

it("a read is given up when its client ends its side", async () => {
  const held = holdCall<ReturnType<typeof makeWorkflow>>();
  test.backends.workflows.getWorkflow = held.handler;
  const client = await open();
  client.socket.end(requestOf("GET", `/workflows/${WORKFLOW_ID}`));
  await waitFor(() => client.isClosed());
  held.answer.resolve(makeWorkflow());
  expect(client.received()).toBe("");
});

it("requests on one kept connection are answered one after the other, whichever they are", async () => {
  test.backends.workflows.getWorkflow = async () => makeWorkflow();
  const client = await open();
  const answered = (count: number) =>
    waitFor(() => client.received().match(/HTTP\/1\.1 \d+/g)?.length === count);
  test.backends.agents.executeAgent = () => Promise.reject(new Error("No."));
  client.socket.write(requestOf("POST", "/agents/agent_content/execute"));
  await answered(1);
  client.socket.write(requestOf("GET", `/workflows/${WORKFLOW_ID}`));
  await answered(2);
  // What the first has left behind on the connection does not end the last.
  const held = holdCall<ReturnType<typeof makeStarted>>();
  test.backends.runs.startRun = held.handler;
  client.socket.end(requestOf("POST", `/workflows/${WORKFLOW_ID}/run`));
  await held.begun();
  held.answer.resolve(makeStarted());
  await waitFor(() => client.isClosed());
  expect(client.received().match(/HTTP\/1\.1 \d+/g)).toEqual([
    "HTTP/1.1 500",
    "HTTP/1.1 200",
    "HTTP/1.1 202",
  ]);
});
