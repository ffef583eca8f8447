import { createSocket } from "node:dgram";
import type { RemoteInfo } from "node:dgram";
import { isIPv4 } from "node:net";

const TYPES = new Map<number, "A" | "AAAA">([
  [1, "A"],
  [28, "AAAA"],
]);
const FAILURES = { SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const;
const HEADER_BYTES = 12;
const TTL_S = 0;

/** One question: `times` is how often this name and type were asked before. */
export interface DnsQuestion {
  name: string;
  type: "A" | "AAAA";
  times: number;
}

/** Addresses of any family (those asked for are sent), a failure, or null for silence. */
export type DnsAnswer = readonly string[] | keyof typeof FAILURES | null;

/** A name server on 127.0.0.1 that speaks DNS over UDP. */
export interface DnsDouble {
  /** The address in the form of settings: `127.0.0.1:port`. */
  address: string;
  /** Every question, repetitions included, in order. */
  questions: readonly DnsQuestion[];
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a name server whose answers a function gives. */
export async function startDnsDouble(
  answer: (question: DnsQuestion) => DnsAnswer | Promise<DnsAnswer>,
): Promise<DnsDouble> {
  const questions: DnsQuestion[] = [];
  const socket = createSocket("udp4");
  let open = true;
  socket.on("message", (query, from) => void respond(query, from));
  await new Promise<void>((resolve) => {
    socket.bind(0, "127.0.0.1", resolve);
  });

  async function respond(query: Buffer, from: RemoteInfo): Promise<void> {
    const { name, type, end } = readQuestion(query);
    if (type === undefined) return;
    const times = questions.filter((each) => each.name === name && each.type === type).length;
    const question = { name, type, times };
    questions.push(question);
    const given = await answer(question);
    if (given === null || !open) return;
    socket.send(responseTo(query.subarray(0, end), type, given), from.port, from.address);
  }

  const close = (): Promise<void> => {
    open = false;
    return new Promise((resolve) => {
      socket.close(resolve);
    });
  };
  const address = `127.0.0.1:${socket.address().port}`;
  return { address, questions, close, [Symbol.asyncDispose]: close };
}

function readQuestion(query: Buffer) {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = TYPES.get(query.readUInt16BE(at + 1));
  // c-ares may write letters in any case, to recognize the answer.
  return { name: labels.join(".").toLowerCase(), type, end: at + 5 };
}

function responseTo(query: Buffer, type: "A" | "AAAA", answer: DnsAnswer): Buffer {
  const failed = typeof answer === "string";
  const records = failed
    ? []
    : (answer ?? []).filter((address) => isIPv4(address) === (type === "A")).map(recordOf);
  const header = Buffer.from(query.subarray(0, HEADER_BYTES));
  header.writeUInt16BE(0x8180 | (failed ? FAILURES[answer] : 0), 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, query.subarray(HEADER_BYTES), ...records]);
}

function recordOf(address: string): Buffer {
  const data = bytesOf(address);
  const record = Buffer.alloc(12);
  // The name is that of the question.
  record.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  record.writeUInt16BE(isIPv4(address) ? 1 : 28, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(TTL_S, 6);
  record.writeUInt16BE(data.length, 10);
  return Buffer.concat([record, data]);
}

function bytesOf(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  const [head = "", tail = ""] = address.split("::");
  const groups = (text: string): string[] => text.split(":").filter((group) => group !== "");
  const missing = 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array.from({ length: missing }, () => "0"), ...groups(tail)];
  return Buffer.concat(all.map((group) => Buffer.from(group.padStart(4, "0"), "hex")));
}
