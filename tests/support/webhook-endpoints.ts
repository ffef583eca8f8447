import { newUuid } from "@workflow/db";
import { z } from "zod";
import type { Company, WholeSystem } from "./whole-system.ts";

/** Where nobody listens. */
export const NOBODY = "http://127.0.0.1:1/";

const made = z.object({ id: z.string() });
const tested = z.object({ deliveryId: z.string() });

/**
 * An endpoint of the company at which nobody listens, and to which no run has anything to tell: it is for a
 * workflow that there is not. Returns its id.
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

/** Such an endpoint with the delivery of a test. */
export async function makeTestedEndpoint(
  system: Pick<WholeSystem, "call">,
  company: Pick<Company, "key">,
): Promise<{ webhookEndpoint: string; webhookDelivery: string }> {
  const webhookEndpoint = await makeEndpoint(system, company);
  const path = `/webhook-endpoints/${webhookEndpoint}/test`;
  const { data } = await system.call("POST", path, { key: company.key });
  return { webhookEndpoint, webhookDelivery: tested.parse(data).deliveryId };
}
