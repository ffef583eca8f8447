import { z } from "zod";
import { findSignatureHeader } from "../../src/inbound/inbound-request.ts";
import type { InboundRequest } from "../../src/inbound/inbound-request.ts";
import type { ProviderHandler } from "../../src/inbound/provider-handler.ts";
import { toWord } from "../../src/inbound/provider-input.ts";
import { memberOf, readSentObject } from "../../src/inbound/sent-json.ts";
import type { SentObject } from "../../src/inbound/sent-json.ts";
import { isSigned, parseHexDigest } from "../../src/inbound/signatures/hmac.ts";

const installation = z.object({ id: z.number() });

interface GithubEvent {
  sent: SentObject;
  kind: string | null;
  delivery: string | null;
}

/** A fourth provider, written by the steps of CONTRIBUTING.md: GitHub's applications. */
export function createGithubHandler(secrets: readonly string[]): ProviderHandler<GithubEvent> {
  return {
    provider: "github",
    verify(request) {
      if (secrets.length === 0) return "unconfigured";
      const signature = findSignatureHeader(request, "x-hub-signature-256");
      if (signature === null) return "missing";
      const digest = parseHexDigest(signature.replace(/^sha256=/, ""));
      const isGenuine = digest !== null && isSigned(secrets, [request.rawBody], [digest]);
      return isGenuine ? "verified" : "failed";
    },
    parse: (request) => [
      {
        sent: readSentObject(request.rawBody),
        kind: headerOf(request, "x-github-event"),
        delivery: headerOf(request, "x-github-delivery"),
      },
    ],
    accountsOf({ sent }) {
      const { success, data } = installation.safeParse(memberOf(sent, "installation"));
      const account = success ? toWord(data.id) : null;
      return account === null ? [] : [account];
    },
    normalise: ({ sent, kind, delivery }) => ({
      eventType: kind,
      externalEventId: delivery,
      dataJson: sent.text,
    }),
  };
}

function headerOf({ headers }: InboundRequest, name: string): string | null {
  return toWord(headers.get(name)?.[0]);
}
