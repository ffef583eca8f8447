import type { Scope } from "@workflow/service";
import type { WebhooksServiceOptions } from "../options.ts";

/** The durable name under which the events of runs are heard. */
const CONSUMER = "webhooks-deliveries";

/** The streams that the service hears. */
export const EVENT_CONSUMERS = { runs: [CONSUMER] };

/** Delivers the events of runs until the scope closes. */
export async function startOutbound({ bus }: WebhooksServiceOptions, scope: Scope): Promise<void> {
  const subscription = await bus.subscribe({
    stream: "runs",
    consumer: CONSUMER,
    handler: async () => {},
  });
  scope.defer(() => subscription.close());
}
