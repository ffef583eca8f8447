import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { expect } from "@jest/globals";
import { waitFor } from "@workflow/testkit";

/** One connection on which a test says every byte itself. */
export interface RawClient {
  socket: Socket;
  received: () => string;
  /** The server has ended its side. */
  isEnded: () => boolean;
  isClosed: () => boolean;
  error: () => string | undefined;
}

export const MIB = 1024 * 1024;
export const JSON_TYPE = "Content-Type: application/json";
/** Of a body that the server does not wait for. */
export const LONG = `Content-Length: ${10 * MIB}`;

const sockets: Socket[] = [];

/** Connects to a gateway; to be closed with `closeRawClients` after each case. */
export async function openRawClient(port: number): Promise<RawClient> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  sockets.push(socket);
  let received = "";
  let isEnded = false;
  let isClosed = false;
  let code: string | undefined;
  socket.setEncoding("utf8");
  socket.on("data", (chunk: string) => (received += chunk));
  socket.on("end", () => (isEnded = true));
  socket.on("close", () => (isClosed = true));
  socket.on("error", (error: NodeJS.ErrnoException) => (code = error.code));
  await once(socket, "connect");
  return {
    socket,
    received: () => received,
    isEnded: () => isEnded,
    isClosed: () => isClosed,
    error: () => code,
  };
}

/** Closes the connections of a case. */
export function closeRawClients(): void {
  for (const socket of sockets.splice(0)) socket.destroy();
}

/** The head of a request that posts a workflow. */
export function head(...lines: string[]): string {
  return ["POST /api/v1/workflows HTTP/1.1", "Host: x", ...lines, "", ""].join("\r\n");
}

/** Waits for a whole answer with a JSON body. */
export async function answerOf(client: RawClient): Promise<{ status: number; head: string }> {
  return waitFor(() => {
    const [head = "", body = ""] = client.received().split("\r\n\r\n");
    const length = Number(/\r\nContent-Length: (\d+)/.exec(head)?.[1] ?? Infinity);
    if (body.length < length) return null;
    expect(JSON.parse(body.slice(0, length))).toHaveProperty("error.code");
    return { status: Number(head.split(" ")[1]), head };
  });
}

/** Sends until that is over; resolves to the number of bytes that were taken. */
export async function sendOn({ socket }: RawClient, bytes: number): Promise<number> {
  const chunk = Buffer.alloc(64 * 1024, 0x20);
  let sent = 0;
  while (sent < bytes && !socket.destroyed && socket.writable) {
    await new Promise<void>((resolve) => socket.write(chunk, () => resolve()));
    sent += chunk.length;
  }
  return sent;
}

/** Sends on until so many are left, and counts them. */
export async function countLeft(clients: readonly RawClient[], expected: number): Promise<number> {
  const left = (): number => clients.filter((client) => !client.isClosed()).length;
  await waitFor(() => {
    for (const { socket } of clients) if (socket.writable) socket.write(" ");
    return left() <= expected;
  });
  return left();
}
