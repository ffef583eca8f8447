import { connect } from "node:net";
import type { Socket } from "node:net";
import type { z } from "zod";
import { slowClientsOrder } from "./slow-clients-protocol.ts";

/**
 * Each connection sends one byte a second of its endless request, a part of the connections at a time.
 */
const PARTS = 50;
const PART_EVERY_MS = 20;
const REOPEN_AFTER_MS = 250;
const BODY_BYTES = 100_000;

type Opening = Extract<z.output<typeof slowClientsOrder>, { kind: "open" }>;

/**
 * Clients that open connections and send next to nothing, in a process of its own that ends with its parent. A
 * client that is cut off connects again.
 */
const sockets = new Set<Socket>();
let cut = 0;
let isOpen = false;
let dripping: NodeJS.Timeout | undefined;

process.once("disconnect", () => process.exit());
process.on("message", (message) => {
  const order = slowClientsOrder.parse(message);
  if (order.kind === "open") void openAll(order).then(tell);
  else {
    if (order.kind === "close") closeAll();
    tell();
  }
});

function tell(): void {
  process.send?.({ open: sockets.size, cut });
}

async function openAll({ port, heads, bodies, apiKey }: Opening): Promise<void> {
  isOpen = true;
  const head = "GET /api/v1/workflows HTTP/1.1\r\nhost: bench\r\nx-slow: ";
  const body =
    `POST /api/v1/workflows HTTP/1.1\r\nhost: bench\r\nx-api-key: ${apiKey}\r\n` +
    `content-type: application/json\r\ncontent-length: ${BODY_BYTES}\r\n\r\n{`;
  const beginnings = [...Array<string>(heads).fill(head), ...Array<string>(bodies).fill(body)];
  await Promise.all(beginnings.map((beginning) => open(port, beginning)));
  let turn = 0;
  dripping = setInterval(() => {
    turn = (turn + 1) % PARTS;
    for (const [place, socket] of [...sockets].entries()) {
      if (place % PARTS === turn) socket.write(" ");
    }
  }, PART_EVERY_MS);
}

function open(port: number, beginning: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect(port, "127.0.0.1", () => {
    sockets.add(socket);
    socket.write(beginning);
    resolve();
  });
  // The end of the connection brings the same news.
  socket.on("error", reject);
  socket.resume();
  socket.once("close", () => {
    if (!sockets.delete(socket) || !isOpen) return;
    cut += 1;
    setTimeout(() => {
      if (isOpen) open(port, beginning).catch(() => {});
    }, REOPEN_AFTER_MS);
  });
  return promise;
}

function closeAll(): void {
  isOpen = false;
  clearInterval(dripping);
  for (const socket of sockets) socket.destroy();
  sockets.clear();
}
