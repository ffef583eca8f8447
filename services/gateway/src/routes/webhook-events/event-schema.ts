import { z } from "zod";
import {
  anyJson,
  namesOf,
  prefixedId,
  timeText,
  uuidText,
  wholeNumber,
} from "../answer-schemas.ts";
import { EVENT_STATUSES, SIGNATURES } from "./event-json.ts";

/** The status of an event. */
export const eventStatus = namesOf(EVENT_STATUSES).meta({
  id: "WebhookEventStatus",
  description:
    "received: kept. processing: its workflows are being started. processed: all of them were. ignored: no workflow matches. failed: refused, or not to be processed, see `error`.",
  examples: ["processed"],
});

/** The result of the signature check. */
export const signatureVerified = namesOf(SIGNATURES).meta({
  id: "SignatureVerified",
  description:
    "pending: not checked yet. verified: the signature is the sender's. failed: it is not, or too old. skipped: none was sent, or no secret is set.",
  examples: ["verified"],
});

const head = {
  id: prefixedId("evt_").describe("The event's id."),
  companyId: uuidText.describe("The caller's company."),
  provider: z
    .string()
    .describe("The provider's id; `custom` for the route without one.")
    .meta({ examples: ["stripe"] }),
  eventType: z
    .string()
    .nullable()
    .describe("What the provider calls the kind of event; null: it says none.")
    .meta({ examples: ["invoice.paid"] }),
  eventId: z
    .string()
    .nullable()
    .describe("The provider's own id of the event; null: it gives none.")
    .meta({ examples: ["evt_1QbQ2rKd"] }),
};

const rest = {
  payloadBytes: wholeNumber.describe("Bytes of the payload as it came in.").meta({
    examples: [1_024],
  }),
  signatureVerified,
  status: eventStatus,
  workflowsTriggered: z
    .array(
      z
        .strictObject({
          workflowId: uuidText.describe("The workflow."),
          runId: prefixedId("run_").describe("The run that was started of it."),
        })
        .meta({ id: "TriggeredWorkflow", description: "A run that an event has started." }),
    )
    .describe("The runs that it has started so far."),
  error: z.string().nullable().describe("Why it has failed, for people; null: it has not."),
  replayedFrom: prefixedId("evt_")
    .nullable()
    .describe("The event that it replays; null for one that came in."),
  createdAt: timeText.describe("When it came in."),
};

/** An event as lists show it. */
export const listedEventSchema = z.strictObject({ ...head, ...rest }).meta({
  id: "ListedWebhookEvent",
  description: "An inbound event, without its payload.",
});

/** An event with its payload. */
export const eventSchema = z
  .strictObject({
    ...head,
    payload: anyJson
      .describe("What was sent, as JSON; null: it is not kept any more.")
      .meta({ examples: [{ type: "invoice.paid" }] }),
    ...rest,
  })
  .meta({ id: "WebhookEvent", description: "An inbound event with its payload." });
