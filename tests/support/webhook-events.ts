import { newUuid } from "@workflow/db";
import { z } from "zod";
import type { Company, WholeSystem } from "./whole-system.ts";

const kept = z.tuple([z.looseObject({ id: z.string() })]);

/** Makes an inbound event of the company for which no workflow waits; returns its id. */
export async function makeWebhookEvent(
  { origin, call }: Pick<WholeSystem, "origin" | "call">,
  { id, key }: Company,
): Promise<string> {
  const response = await fetch(`${origin}/webhooks/custom/${id}/${newUuid()}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ order: 1 }),
  });
  if (!response.ok) throw new Error(`The webhook was answered ${response.status}.`);
  const { data } = await call("GET", "/webhook-events?limit=1", { key });
  const [event] = kept.parse(data);
  return event.id;
}
