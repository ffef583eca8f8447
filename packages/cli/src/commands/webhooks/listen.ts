import type { Command } from "@commander-js/extra-typings";
import { InvalidArgumentError } from "@commander-js/extra-typings";
import { act, examples } from "../../action.ts";
import type { Context } from "../../context.ts";
import { mayPass, toFailure, usageError } from "../../failures.ts";
import { interruption, pause } from "../../interruption.ts";
import { count, moment, objectId } from "../../options.ts";
import { plain } from "../../output/output.ts";
import type { Output } from "../../output/output.ts";
import { deliveriesOf, inboundEvents } from "./sources.ts";
import type { Message, Source } from "./sources.ts";
import { forward } from "./forward.ts";
import type { Forwarded } from "./forward.ts";

/**
 * The form of the service's secrets (D48). Base64 decoding is lenient: any other text would give a wrong key
 * without an error.
 */
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

/** Adds `webhooks listen`. */
export function addListen(parent: Command): void {
  parent
    .command("listen")
    .description("Forward webhooks to a program on this machine, as they come")
    .requiredOption("--forward <url>", "where to, such as http://localhost:3000/hooks", localUrl)
    .option("--endpoint <id>", "deliveries of runs' events to this endpoint", objectId)
    .option("--inbound", "events that came in from providers and custom routes")
    .option("--provider <id>", "inbound events of this provider only")
    .option("--since <moment>", "also what came since: a timestamp, or 15m, 2h, 7d ago", moment)
    .option("--interval <seconds>", "how often to ask the server (2)", count, 2)
    .option("--max <n>", "end after so many", count)
    .addHelpText(
      "after",
      `
There is no tunnel: the command asks the server what has come, and posts it to your program.
- Outbound (--endpoint): bodies are those that were signed, to the byte. The service delivers to the endpoint's own
  address as well, and what your program answers changes nothing there. Signatures are not shown by the API: set
  WORKFLOW_WEBHOOK_SECRET to the endpoint's secret and deliveries are signed anew, now.
- Inbound (--inbound): the payload as the service has read it, as JSON; the sender's headers and signature are not
  kept. X-Webhook-Provider, X-Webhook-Event and X-Webhook-Id say what it is.
Of what came before (--since) the newest 1,000 are forwarded.
To try: workflowctl webhooks test <endpoint>, or post to a custom route.
${examples(
  "workflowctl webhooks listen --forward http://localhost:3000 --endpoint whe_01kdvwgw00…",
  "workflowctl webhooks listen --forward http://localhost:3000/in --inbound --provider stripe",
)}`,
    )
    .action(
      act(async ({ out, connect, signal }, options) => {
        const {
          endpoint,
          inbound,
          provider,
          since,
          interval,
          max = Number.POSITIVE_INFINITY,
        } = options;
        if (endpoint === undefined && inbound !== true) {
          throw usageError("Say what to forward: --endpoint <id>, --inbound, or both.");
        }
        const wanted = { endpoint, inbound: inbound === true, provider, since };
        const sources = await openSources(connect, wanted, out);
        out.note("Ready; Ctrl-C ends it.");
        for (let told = 0; told < max && !signal.aborted;) {
          for (const message of await takeAll(sources, out)) {
            if (told >= max || signal.aborted) break;
            tell(out, await forward(options.forward, message, signal));
            told += 1;
          }
          if (told < max) await pause(interval * 1_000, signal);
        }
      }),
    );
}

/** The sources of webhooks that a call asks for. */
async function openSources(
  connect: Context["connect"],
  { endpoint, inbound, provider, since }: WantedSources,
  out: Context["out"],
): Promise<Source[]> {
  const secret = secretOf(process.env);
  const client = await connect();
  const sources: Source[] = [];
  if (endpoint !== undefined) {
    const { id, name } = await client.webhookEndpoints.get(endpoint);
    sources.push(await deliveriesOf(client, { endpointId: id, since, secret }));
    out.note(`Forwarding deliveries of ${plain(name)}${secret === undefined ? ", unsigned" : ""}.`);
  }
  if (inbound) {
    sources.push(await inboundEvents(client, { provider, since }));
    out.note("Forwarding inbound events.");
  }
  return sources;
}

interface WantedSources {
  endpoint: string | undefined;
  inbound: boolean;
  provider: string | undefined;
  since: string | undefined;
}

/** The secret for signing deliveries anew; undefined when there is none. Errors do not show it. */
function secretOf({ WORKFLOW_WEBHOOK_SECRET: secret = "" }: NodeJS.ProcessEnv): string | undefined {
  if (secret === "") return undefined;
  if (SECRET.test(secret)) return secret;
  throw usageError(
    "WORKFLOW_WEBHOOK_SECRET must be an endpoint's secret: whsec_ and 32 bytes in base64.",
  );
}

/** Takes new messages of all sources. A server that is away is asked again later. */
async function takeAll(sources: readonly Source[], out: Output): Promise<Message[]> {
  const messages: Message[] = [];
  for (const source of sources) {
    try {
      messages.push(...(await source.take()));
    } catch (error) {
      const failure = toFailure(error);
      if (!mayPass(failure)) throw error;
      if (!interruption.aborted) out.note(`${plain(failure.message)} Asking again.`);
    }
  }
  return messages;
}

function tell(out: Output, forwarded: Forwarded): void {
  if (out.isJson) return out.jsonLine(forwarded);
  const { id, kind, type, status, error, durationMs } = forwarded;
  const answer = status === null ? out.paint("red", plain(error ?? "no answer")) : String(status);
  out.line(`${[kind, type, id].map(plain).join("  ")}  ${answer}  ${durationMs} ms`);
}

/** Bodies may hold a company's secrets, so they go to this machine only. */
function localUrl(value: string): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  const isLocal =
    url !== undefined &&
    (url.protocol === "http:" || url.protocol === "https:") &&
    (/^127\.\d+\.\d+\.\d+$/.test(url.hostname) ||
      ["localhost", "[::1]"].includes(url.hostname) ||
      url.hostname.endsWith(".localhost"));
  if (url === undefined || !isLocal) {
    throw new InvalidArgumentError(
      "It must be an address of this machine, such as http://localhost:3000.",
    );
  }
  return url;
}
