import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { WatchRunResponse } from "@workflow/proto/runs/v1/runs";
import { StepStatus } from "@workflow/proto/runs/v1/steps";
import { waitFor } from "@workflow/testkit";
import { startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";
import { makeStarted, makeWorkflow, RUN_ID, WORKFLOW_ID } from "./support/messages.ts";

/** A connection that its client neither closes nor, where a test says so, reads. */
interface Client {
  socket: Socket;
  received: () => string;
  /** Whether the gateway has ended its side, or all of the connection. */
  isEnded: () => boolean;
}

const WORKFLOW = `/api/v1/workflows/${WORKFLOW_ID}`;
const EVENTS = `/api/v1/runs/${RUN_ID}/events`;
const BODY = '{"input":{}}';
/** Characters of it that are sent before the gateway stops. */
const BEGUN = 5;
const ASKED = "HTTP/1.1 100 Continue\r\n\r\n";

/**
 * What is ended is so while a request that the test holds is under way: nothing of it is the end of the time
 * after which a gateway that stops cuts off whatever is left.
 */
describe("a gateway that stops while a request is under way", () => {
  let test: TestGateway;
  let held: Client;
  let release: () => void;
  let stopped: Promise<void>;
  const sockets: Socket[] = [];

  beforeEach(async () => {
    test = await startTestGateway();
    const answer = Promise.withResolvers<ReturnType<typeof makeWorkflow>>();
    release = () => answer.resolve(makeWorkflow());
    test.backends.workflows.getWorkflow = () => answer.promise;
    held = await open();
    held.socket.write(head("GET", WORKFLOW));
    await waitFor(() => test.backends.calls.length > 0);
  });

  afterEach(async () => {
    release();
    await waitFor(held.isEnded);
    for (const socket of sockets.splice(0)) socket.destroy();
    await test.close();
    await stopped;
    // Nothing has cut it off.
    expect(held.received()).toMatch(/^HTTP\/1\.1 200 /);
  });

  async function open(): Promise<Client> {
    const socket = connect({ port: test.gateway.port, host: "127.0.0.1", allowHalfOpen: true });
    sockets.push(socket);
    let received = "";
    let isEnded = false;
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => (received += chunk));
    socket.on("end", () => (isEnded = true));
    socket.on("close", () => (isEnded = true));
    socket.on("error", () => {});
    await once(socket, "connect");
    return { socket, received: () => received, isEnded: () => isEnded };
  }

  function head(method: "GET" | "POST", path: string, ...more: string[]): string {
    const key = `X-Api-Key: ${test.company.apiKey}`;
    return [`${method} ${path} HTTP/1.1`, "Host: x", key, ...more, "", ""].join("\r\n");
  }

  /** Sends a head, and the first bytes of its body once the gateway asks for them. */
  async function beginBody(path: string): Promise<Client> {
    const client = await open();
    const announced = ["Content-Type: application/json", `Content-Length: ${BODY.length}`];
    client.socket.write(head("POST", path, ...announced, "Expect: 100-continue"));
    await waitFor(() => client.received() === ASKED);
    client.socket.write(BODY.slice(0, BEGUN));
    return client;
  }

  /** Tells of steps of a run that does not end; gives how many it has told of. */
  function tellOfSteps(count: number, outputJson = "null"): () => number {
    let told = 0;
    test.backends.runs.watchRun = async function* (_request, { signal }) {
      for (; told < count; told += 1) {
        const value = { path: `s${told}`, status: StepStatus.SUCCESS, outputJson };
        yield WatchRunResponse.fromPartial({
          update: { $case: "step", value },
          position: `p${told}`,
        });
      }
      await once(signal, "abort");
    };
    return () => told;
  }

  it("closes connections that have begun a request, or none, at once", async () => {
    const silent = await open();
    const begun = await open();
    begun.socket.write("GET /livez HTTP/1.1\r\nHost: x\r\nX-Long: ");
    const again = await open();
    again.socket.write("GET /livez HTTP/1.1\r\nHost: x\r\n\r\nGET /livez HT");
    await waitFor(() => again.received().endsWith('{"status":"ok"}}'));
    stopped = test.gateway.stop();
    await waitFor(() => [silent, begun, again].every((client) => client.isEnded()));
  });

  it("ends an event stream and its connection, so that the client comes again", async () => {
    tellOfSteps(1);
    const client = await open();
    client.socket.write(head("GET", EVENTS));
    await waitFor(() => client.received().includes("id: p0"));
    stopped = test.gateway.stop();
    await waitFor(client.isEnded);
    // The last chunk of a body that is whole.
    expect(client.received().endsWith("\r\n0\r\n\r\n")).toBe(true);
  });

  it("cuts an event stream off whose client does not read", async () => {
    const told = tellOfSteps(400, JSON.stringify("x".repeat(256 * 1024)));
    const client = await open();
    client.socket.once("data", () => client.socket.pause());
    client.socket.write(head("GET", EVENTS));
    await waitFor(() => client.received() !== "");
    await untilSame(told);
    stopped = test.gateway.stop();
    const isOver = ({ route }: Record<string, unknown>) => route === "/runs/{id}/events";
    await waitFor(() => test.logLines.some(isOver));
  });

  it("takes a body whose rest comes meanwhile, and answers", async () => {
    test.backends.runs.startRun = async () => makeStarted();
    const client = await beginBody(`${WORKFLOW}/run`);
    const silent = await open();
    stopped = test.gateway.stop();
    await waitFor(silent.isEnded);
    client.socket.write(BODY.slice(BEGUN));
    await waitFor(client.isEnded);
    const answer = client.received().slice(ASKED.length);
    expect(answer).toMatch(/^HTTP\/1\.1 202 /);
    expect(answer.toLowerCase()).toContain("connection: close");
  });

  it("answers 503 to those whose body does not come", async () => {
    const clients = [await beginBody(`${WORKFLOW}/run`), await beginBody("/api/v1/tables/import")];
    stopped = test.gateway.stop();
    await waitFor(() => clients.every((client) => client.isEnded()));
    for (const client of clients) {
      const answer = client.received().slice(ASKED.length);
      expect(answer).toMatch(/^HTTP\/1\.1 503 /);
      expect(answer).toContain("Retry-After: 1");
      expect(answer).toContain('"code":"UNAVAILABLE"');
    }
  });
});

/** Waits until a number no longer grows. */
async function untilSame(count: () => number): Promise<void> {
  let last = -1;
  let same = 0;
  await waitFor(() => {
    same = count() === last ? same + 1 : 0;
    last = count();
    return same >= 10;
  });
}
