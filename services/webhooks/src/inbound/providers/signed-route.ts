import { AppError } from "@workflow/errors";
import type { InboundContext } from "../inbound-context.ts";
import type { InboundMessage } from "../inbound-message.ts";
import type { InboundRequest, InboundRoute } from "../inbound-request.ts";
import type { SignatureVerdict } from "../provider-handler.ts";
import { findJsonObject, readJsonObject, readText, requireJsonType } from "../read-json.ts";
import type { JsonObject } from "../read-json.ts";

/** How the bodies of one provider, each with one event, are checked and read. */
export interface SignedSource {
  verify(request: InboundRequest): SignatureVerdict;
  /** What an event tells; of one that was refused it is only recorded. */
  read(
    object: JsonObject,
    request: InboundRequest,
  ): Omit<InboundMessage, "signature" | "payloadBytes" | "requestId">;
}

/** Why a request was refused: what the sender is told, and what is written down. */
const REFUSALS = {
  failed: { answer: "Invalid signature", signature: "failed" },
  missing: { answer: "Missing signature", signature: "skipped" },
  unconfigured: { answer: "Signatures cannot be verified here", signature: "skipped" },
} as const;

/** A route of a provider that signs what it sends (D40). What is refused is recorded, too. */
export function createSignedRoute(
  { intake, requireSignature }: Pick<InboundContext, "intake" | "requireSignature">,
  source: SignedSource,
): InboundRoute {
  return async (request) => {
    requireJsonType(request);
    const verdict = source.verify(request);
    const about = { payloadBytes: request.rawBody.length, requestId: request.requestId };
    const isRefused =
      verdict === "failed" ||
      verdict === "missing" ||
      (verdict === "unconfigured" && requireSignature);
    if (isRefused) {
      const { answer, signature } = REFUSALS[verdict];
      const object = findJsonObject(readText(request));
      if (object !== null) {
        await intake.refuse({ ...source.read(object, request), ...about, signature }, answer);
      }
      throw new AppError("UNAUTHORIZED", answer);
    }
    const message = source.read(readJsonObject(request), request);
    const signature = verdict === "verified" ? "verified" : "skipped";
    const accepted = await intake.accept({ ...message, ...about, signature });
    return { status: 200, body: { received: true, ...accepted } };
  };
}
