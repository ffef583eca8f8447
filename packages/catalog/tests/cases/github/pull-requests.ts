import type { ActionCase } from "../action-case.ts";
import { HELLO } from "./repository.ts";

const pull = { title: "Mend it", head: "mend-it", base: "main", draft: false };

/** Pull requests and workflows. */
export const pullsAndWorkflows: readonly ActionCase[] = [
  {
    action: "createPullRequest",
    inputs: { ...HELLO, ...pull },
    exchanges: [
      {
        request: { method: "POST", path: "/repos/octocat/hello-world/pulls", json: pull },
        answer: { status: 201, body: { id: 2, number: 18 } },
      },
    ],
    output: { id: 2, number: 18 },
  },
  {
    action: "createPullRequest",
    what: "of a branch without commits",
    inputs: { ...HELLO, ...pull },
    exchanges: [
      {
        request: { method: "POST", path: "/repos/octocat/hello-world/pulls", json: pull },
        answer: {
          status: 422,
          body: {
            message: "Validation Failed",
            errors: [
              {
                resource: "PullRequest",
                code: "custom",
                message: "No commits between main and mend-it",
              },
            ],
            documentation_url: "https://docs.github.com/rest/pulls/pulls#create-a-pull-request",
            status: "422",
          },
        },
      },
    ],
    failure: {
      status: 422,
      code: "custom",
      message: "No commits between main and mend-it",
      retryable: false,
      limited: false,
      badCredentials: false,
    },
  },
  {
    action: "dispatchWorkflow",
    inputs: { ...HELLO, workflow_id: "ci.yml", ref: "main", inputs: { level: "info" } },
    exchanges: [
      {
        request: {
          method: "POST",
          path: "/repos/octocat/hello-world/actions/workflows/ci.yml/dispatches",
          json: { ref: "main", inputs: { level: "info" }, return_run_details: true },
        },
        answer: {
          body: { workflow_run_id: 7, html_url: "https://github.com/octocat/x/actions/7" },
        },
      },
    ],
    output: { workflow_run_id: 7, html_url: "https://github.com/octocat/x/actions/7" },
  },
];
