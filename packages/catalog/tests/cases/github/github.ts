import type { ProviderCases } from "../action-case.ts";
import { issues } from "./issues.ts";
import { pullsAndWorkflows } from "./pull-requests.ts";
import { failures } from "./failures.ts";

export const githubCases: ProviderCases = {
  provider: "github",
  fields: {},
  credentials: { accessToken: "gho_canary" },
  signature: {
    headers: {
      authorization: "Bearer gho_canary",
      accept: "application/vnd.github+json",
      "x-github-api-version": "2022-11-28",
      "user-agent": "workflow-automation",
    },
  },
  cases: [...issues, ...pullsAndWorkflows, ...failures],
};
