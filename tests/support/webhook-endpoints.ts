import { newUuid } from "@workflow/db";
import { z } from "zod";
import type { Company, WholeSystem } from "./whole-system.ts";

/** An address without a server. */
export const NOBODY = "http://127.0.0.1:1/";

const made = z.object({ id: z.string() });
const tested = z.object({ deliveryId: z.string() });

/**
 * Makes an endpoint of the company at an address without a server. No run reaches it, since its workflow does not
 * exist. Returns its id.
 */
export async function makeEndpoint(
  { call }: Pick<WholeSystem, "call">,
  { key }: Pick<Company, "key">,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const body = { name: "Nobody", url: NOBODY, workflowIds: [newUuid()], ...fields };
  const { data } = await call("POST", "/webhook-endpoints", { key, body });
  return made.parse(data).id;
}

/** Makes such an endpoint with the delivery of a test. */
export async function makeTestedEndpoint(
  system: Pick<WholeSystem, "call">,
  company: Pick<Company, "key">,
): Promise<{ webhookEndpoint: string; webhookDelivery: string }> {
  const webhookEndpoint = await makeEndpoint(system, company);
  const path = `/webhook-endpoints/${webhookEndpoint}/test`;
  const { data } = await system.call("POST", path, { key: company.key });
  return { webhookEndpoint, webhookDelivery: tested.parse(data).deliveryId };
}
