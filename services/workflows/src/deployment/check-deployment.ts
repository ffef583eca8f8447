import type { DeploymentsServiceService } from "@workflow/proto/runs/v1/deployments";
import type { RpcClient } from "@workflow/rpc";
import type { Logger } from "pino";
import type { DeploymentCheck } from "../validation/definition-checker.ts";
import { pusherOf } from "./pusher.ts";
import { changeRefused, isRefusal } from "./refusal.ts";

/** The question is a courtesy: the hand-over itself has time and a repair loop. */
const TIMEOUT_MS = 2_000;

/**
 * Asks before anything is stored whether the execution plane would take a definition: a version of it
 * that knows more rules, or fewer steps, refuses what this service finds valid. When it can't say, the
 * change is made; its hand-over then finds out.
 */
export function createDeploymentCheck(
  deployments: RpcClient<typeof DeploymentsServiceService>,
  logger: Logger,
): DeploymentCheck {
  return async ({ companyId, content }) => {
    const { inputSchemaJson, outputSchemaJson, settingsJson } = content;
    const request = {
      content: {
        // Neither is part of what can be refused.
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
