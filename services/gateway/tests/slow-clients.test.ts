import { connect } from "node:net";
import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { call, startTestGateway } from "./support/gateway.ts";
import type { TestGateway } from "./support/gateway.ts";
import { makeRun, makeWorkflow, RUN_ID, WORKFLOW_ID } from "./support/messages.ts";

const PATH = `/api/v1/workflows/${WORKFLOW_ID}`;
const DRIBBLE_MS = 200;

/** A client's end of a connection. */
interface Client {
  socket: Socket;
  received(): string;
  isClosed(): boolean;
}

function openClient(port: number, localAddress = "127.0.0.1"): Promise<Client> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress });
    let received = "";
    let isClosed = false;
    socket.on("data", (chunk: Buffer) => {
      if (received.length < 4_096) received += chunk.toString("latin1");
    });
    socket.once("close", () => (isClosed = true));
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.on("error", () => {});
      resolve({ socket, received: () => received, isClosed: () => isClosed });
    });
  });
}

describe("a thousand clients that are as slow as they can", () => {
  let test: TestGateway;

  beforeAll(async () => {
    test = await startTestGateway({
      clientTimeouts: { headMs: 6_000, requestMs: 8_000, unreadMs: 4_000 },
    });
    test.backends.workflows.getWorkflow = async () => makeWorkflow();
  });
  afterAll(() => test.close());

  /** Sends the rest byte by byte, until the gateway has had enough. */
  const dribble = ({ socket }: Client, head: string, byte: string): void => {
    socket.write(head);
    const timer = setInterval(() => socket.write(byte), DRIBBLE_MS);
    socket.once("close", () => clearInterval(timer));
  };
  const openMany = (count: number): Promise<Client[]> =>
    Promise.all(Array.from({ length: count }, () => openClient(test.gateway.port)));

  it("are cut off, and another from the same address is served all the while", async () => {
    const key = `X-Api-Key: ${test.company.apiKey}`;
    const heads = await openMany(500);
    // Asked for while a thousand connections are open or being opened, however slowly a busy machine opens them.
    const firstBeside = call(test, "GET", PATH).then(({ status }) => status);
    const bodies = await openMany(492);
    const deaf = await openMany(8);
    for (const client of heads) dribble(client, `GET ${PATH} HTTP/1.1\r\nHost: x\r\nX-Slow: `, "a");
    const json = "Content-Type: application/json\r\nContent-Length: 1000000";
    for (const client of bodies) {
      dribble(
        client,
        `POST /api/v1/workflows HTTP/1.1\r\nHost: x\r\n${key}\r\n${json}\r\n\r\n`,
        " ",
      );
    }
    // More than the buffers of a connection take.
    const outputJson = JSON.stringify("x".repeat(12 * 1024 * 1024));
    test.backends.runs.getRun = async () => makeRun({ outputJson });
    for (const { socket } of deaf) {
      socket.pause();
      socket.write(`GET /api/v1/runs/${RUN_ID} HTTP/1.1\r\nHost: x\r\n${key}\r\n\r\n`);
    }
    const slow = [...heads, ...bodies];
    while (slow.some((client) => !client.isClosed())) {
      expect((await call(test, "GET", PATH)).status).toBe(200);
    }
    expect(await firstBeside).toBe(200);
    // Most hear why; those that are still sending may lose it with the connection.
    const told = /^HTTP\/1\.1 408 .*did not arrive in time/s;
    for (const clients of [heads, bodies]) {
      const answers = clients.map((client) => client.received()).filter((text) => text !== "");
      expect(answers.length).toBeGreaterThan(clients.length / 4);
      for (const answer of answers) expect(answer).toMatch(told);
    }
    // All large answers are over: cut, since nobody has read them, or refused for want of memory.
    const large = () => test.logLines.filter((line) => line["route"] === "/runs/{id}");
    await waitFor(() => large().length === deaf.length, { what: "the end of all large answers" });
    const isCut = (line: Record<string, unknown>) => line["disconnected"] === true;
    expect(large().filter(isCut).length).toBeGreaterThan(0);
    expect(large().filter((line) => !isCut(line) && Number(line["status"]) < 400)).toEqual([]);
    for (const { socket } of deaf) socket.destroy();
  });
});

describe("one network's connections", () => {
  const connections = 8;
  const ask = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";

  it("are at most half of those that are left, and the next is told so", async () => {
    const test = await startTestGateway({ connectionsMax: connections });
    const clients: Client[] = [];
    const open = async (localAddress: string): Promise<Client> => {
      const client = await openClient(test.gateway.port, localAddress);
      clients.push(client);
      client.socket.write(ask);
      await waitFor(() => client.received().includes("\r\n\r\n"));
      return client;
    };
    const statusOf = (client: Client) => client.received().slice(9, 12);
    try {
      const first: string[] = [];
      for (let opened = 0; opened < 4; opened += 1) first.push(statusOf(await open("127.0.0.1")));
      expect(first).toEqual(["200", "200", "200", "200"]);
      const refused = await open("127.0.0.1");
      expect(refused.received()).toMatch(
        /^HTTP\/1\.1 429 [^]*\r\nRetry-After: 1\r\n[^]*"code":"RATE_LIMITED"[^]*"limit":"connections"/,
      );
      expect(refused.received()).toContain("X-Content-Type-Options: nosniff");
      expect(statusOf(await open("127.0.0.2"))).toBe("200");
      clients[0]?.socket.destroy();
      refused.socket.destroy();
      await waitFor(async () => {
        const again = await open("127.0.0.1");
        if (statusOf(again) !== "200") again.socket.destroy();
        return statusOf(again) === "200";
      });
    } finally {
      for (const { socket } of clients) socket.destroy();
      await test.close();
    }
  });

  it("are not counted when they come from a proxy, which speaks for many", async () => {
    const test = await startTestGateway({
      connectionsMax: connections,
      trustedProxies: ["127.0.0.1"],
    });
    const clients = await Promise.all(
      Array.from({ length: connections - 1 }, () => openClient(test.gateway.port)),
    );
    try {
      for (const client of clients) client.socket.write(ask);
      await waitFor(() => clients.every((client) => client.received().startsWith("HTTP/1.1 200 ")));
    } finally {
      for (const { socket } of clients) socket.destroy();
      await test.close();
    }
  });
});
