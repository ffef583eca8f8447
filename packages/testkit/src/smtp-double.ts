import { once } from "node:events";
import { text } from "node:stream/consumers";
import { callbackify } from "node:util";
import { SMTPServer } from "smtp-server";
import type { SMTPServerDataStream, SMTPServerOptions, SMTPServerSession } from "smtp-server";

/** A message that the double has accepted. */
export interface TakenMessage {
  from: string;
  /** Recipients of the envelope. */
  to: string[];
  /** Header fields, unfolded, encoded words decoded; names in lower case. */
  headers: Map<string, string>;
  body: string;
  raw: string;
}

/** The replies of the double. */
export interface SmtpDoubleOptions {
  /** The reply that refuses a recipient, such as 550; undefined accepts it. */
  refuseRecipient?: (address: string) => SmtpRefusal | undefined;
  /** The reply that refuses a message after its data. */
  refuseMessage?: (taken: number) => SmtpRefusal | undefined;
  /** Awaited before the answer to a message. */
  beforeReply?: () => Promise<void>;
  /** The only valid credentials; without them nobody may send. */
  credentials?: { user: string; pass: string };
  /** Whether STARTTLS is offered, with a self-signed certificate. */
  startTls?: boolean;
  server?: SMTPServerOptions;
}

export interface SmtpRefusal {
  code: number;
  text: string;
}

/** A real SMTP server on a port of its own. */
export interface SmtpDouble {
  port: number;
  /** The address, without credentials. */
  url: string;
  messages: TakenMessage[];
  /** The current number of connections, and the highest so far. */
  connections(): { open: number; most: number };
  close(): Promise<void>;
}

export async function startSmtpDouble(options: SmtpDoubleOptions = {}): Promise<SmtpDouble> {
  const messages: TakenMessage[] = [];
  const { credentials } = options;
  let open = 0;
  let most = 0;
  const server = new SMTPServer({
    authOptional: credentials === undefined,
    allowInsecureAuth: true,
    disabledCommands: options.startTls === true ? [] : ["STARTTLS"],
    disableReverseLookup: true,
    closeTimeout: 50,
    logger: false,
    onConnect(_session, done) {
      open += 1;
      most = Math.max(most, open);
      done();
    },
    onClose: () => void (open -= 1),
    onAuth({ username, password }, _session, done) {
      const good = username === credentials?.user && password === credentials?.pass;
      if (good) done(null, { user: username });
      else done(replyError({ code: 535, text: "5.7.8 Bad credentials" }));
    },
    onRcptTo({ address }, _session, done) {
      const refusal = options.refuseRecipient?.(address);
      if (refusal === undefined) done();
      else done(replyError(refusal));
    },
    onData: callbackify(async (stream: SMTPServerDataStream, session: SMTPServerSession) => {
      const raw = await text(stream);
      await options.beforeReply?.();
      const refusal = options.refuseMessage?.(messages.length);
      if (refusal !== undefined) throw replyError(refusal);
      const { mailFrom, rcptTo } = session.envelope;
      const from = mailFrom === false ? "" : mailFrom.address;
      messages.push({ from, to: rcptTo.map(({ address }) => address), ...parse(raw), raw });
    }),
    ...options.server,
  });
  server.on("error", () => {});
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  const address = server.server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const { port } = address;
  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    messages,
    connections: () => ({ open, most }),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function replyError({ code, text: reply }: SmtpRefusal): Error {
  return Object.assign(new Error(reply), { responseCode: code });
}

function parse(raw: string): Pick<TakenMessage, "headers" | "body"> {
  const split = raw.indexOf("\r\n\r\n");
  const lines = raw
    .slice(0, split)
    .replaceAll(/\r\n(?=[ \t])/g, "")
    .split("\r\n");
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), decodeWords(line.slice(colon + 1).trim())];
    }),
  );
  return { headers, body: raw.slice(split + 4) };
}

/** Decodes encoded words (RFC 2047). Space between two of them is dropped. */
function decodeWords(value: string): string {
  return value
    .replaceAll(/\?=\s+=\?/g, "?==?")
    .replaceAll(/=\?utf-8\?([BQ])\?([^?]*)\?=/gi, (_, kind: string, encoded: string) =>
      kind.toUpperCase() === "B"
        ? Buffer.from(encoded, "base64").toString()
        : Buffer.from(
            encoded
              .replaceAll("_", " ")
              .replaceAll(/=([\dA-F]{2})/g, (__, hex: string) =>
                String.fromCharCode(Number.parseInt(hex, 16)),
              ),
            "latin1",
          ).toString(),
    );
}
