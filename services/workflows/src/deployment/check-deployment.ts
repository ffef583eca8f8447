import type { DeploymentsServiceService } from "@workflow/proto/runs/v1/deployments";
import type { RpcClient } from "@workflow/rpc";
import type { Logger } from "pino";
import type { DeploymentCheck } from "../validation/definition-checker.ts";
import { pusherOf } from "./pusher.ts";
import { changeRefused, isRefusal } from "./refusal.ts";

/** This check is optional: the hand-over itself has more time and a repair loop. */
const TIMEOUT_MS = 2_000;

/**
 * Asks the execution plane, before anything is stored, whether it would accept a definition. A
 * version with other rules or fewer step types may refuse what this service accepts. Without an
 * answer the change is stored, and its hand-over finds out.
 */
export function createDeploymentCheck(
  deployments: RpcClient<typeof DeploymentsServiceService>,
  logger: Logger,
): DeploymentCheck {
  return async ({ companyId, content }) => {
    const { inputSchemaJson, outputSchemaJson, settingsJson } = content;
    const request = {
      content: {
        // The execution plane never refuses either of these.
        name: "",
        version: 1,
        triggerJson: content.triggerJson,
        stepsJson: content.stepsJson,
        inputSchemaJson: inputSchemaJson ?? undefined,
        outputSchemaJson: outputSchemaJson ?? undefined,
        settingsJson: settingsJson ?? undefined,
      },
    };
    try {
      const deadline = new Date(Date.now() + TIMEOUT_MS);
      await deployments.checkDeployment(request, { identity: pusherOf(companyId), deadline });
    } catch (error) {
      if (isRefusal(error)) throw changeRefused(error);
      logger.debug({ err: error }, "the execution plane could not be asked about a definition");
    }
  };
}
