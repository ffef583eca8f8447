import type { Evidence } from "./evidence.ts";

/** A secret that the system makes itself, and the one kind of answer that shows it. */
interface Shown {
  name: string;
  /** Matched against `<place>: <what>` of the evidence. */
  shownIn: RegExp;
  /** The first group is the part that nobody else has. */
  pattern: RegExp;
}

const API_KEY = /\bwfk_([A-Za-z0-9]{32})/g;
const TOKEN = /[?&/](?:state=|connect\/)([A-Za-z0-9_-]{43})/g;

/**
 * What the contract shows once, to whoever made it. Whatever is made and shown later belongs here: its
 * answer is exempt, and everything else is searched for the value.
 */
const SHOWN: readonly Shown[] = [
  {
    name: "API key of a request",
    shownIn: /^REST answers: POST \S*\/auth\/api-keys /,
    pattern: API_KEY,
  },
  {
    name: "API key of a command",
    shownIn: /^admin commands: create-(company|api-key) /,
    pattern: API_KEY,
  },
  { name: "API key of the first start", shownIn: /^terminal: first start/, pattern: API_KEY },
  {
    name: "password of the first owner",
    shownIn: /^terminal: first start/,
    pattern: /^ {2}Password +(\S{20,})$/gm,
  },
  {
    name: "session",
    shownIn: /^REST answers: (POST|PUT) \S*\/auth\/session /,
    pattern: /wfs_session=([^;"\s]{20,})/g,
  },
  {
    name: "token for gRPC",
    shownIn: /^admin commands: mint-token /,
    // The signature: what is before it is no secret.
    pattern: /"token":"[^".]+\.[^".]+\.([^"]+)"/g,
  },
  {
    name: "token of an authorization",
    // Whoever begins one hands it on; pages and callbacks that were called with it may lead to one another.
    shownIn:
      /^REST answers: (GET \S*\/connections\/[^/]+\/auth-url|POST \S*\/connections |GET \/connect\/)/,
    pattern: TOKEN,
  },
  {
    name: "secret of a webhook endpoint",
    shownIn: /^REST answers: POST \S*\/webhook-endpoints(\/[^/]+\/rotate-secret)? /,
    pattern: /"whsec_([A-Za-z0-9+/]{40,})=*"/g,
  },
  {
    name: "session at the broker",
    shownIn: /^REST answers: GET \/connect\/[^/]+\/go /,
    pattern: /session_token=nango_connect_session_([0-9a-f-]{36})/g,
  },
];

/** Takes note of the secrets in an answer that is there to show them. */
export function learnShown(evidence: Evidence, title: string, content: string): void {
  for (const { name, shownIn, pattern } of SHOWN) {
    if (!shownIn.test(title)) continue;
    for (const [, core = ""] of content.matchAll(pattern)) evidence.hide({ name, core, shownIn });
  }
}

/** Names of all that the contract shows. */
export const SHOWN_NAMES: readonly string[] = SHOWN.map(({ name }) => name);
