import { z } from "zod";
import { choice, flag, json, list, number, text } from "../action-input.ts";
import type { ActionManifest, ProviderManifest } from "../provider-manifest.ts";

const owner = text("owner", {
  required: true,
  description: "The account that the repository is of",
});
const repo = text("repo", { title: "Repository", required: true, description: "Without .git" });

const issueNumber = number("issue_number", {
  title: "Number",
  schema: z.int().min(1),
  required: true,
  description: "The number of the issue or pull request",
});

const body = text("body", { title: "Text", control: "long-input", description: "In Markdown" });
const labels = list("labels", { description: "Names of labels" });
const assignees = list("assignees", { description: "Logins of users" });
const milestone = number("milestone", { schema: z.int().min(1), description: "Its number" });

const ISSUE = [
  "id",
  "number",
  "title",
  "body",
  "state",
  "state_reason",
  "labels",
  "assignees",
  "milestone",
  "user",
  "html_url",
  "created_at",
  "updated_at",
  "closed_at",
];

const createIssue: ActionManifest = {
  name: "createIssue",
  title: "Create an issue",
  description: "Creates an issue in a repository.",
  docs: "https://docs.github.com/rest/issues/issues#create-an-issue",
  inputs: [
    owner,
    repo,
    text("title", { required: true }),
    body,
    labels,
    assignees,
    milestone,
    text("type", { description: "The name of an issue type" }),
  ],
  outputs: ISSUE,
  request: { method: "POST", path: "/repos/{owner}/{repo}/issues" },
  example: { owner: "octocat", repo: "hello-world", title: "It is broken", labels: ["bug"] },
};

const updateIssue: ActionManifest = {
  name: "updateIssue",
  title: "Update an issue",
  description: "Changes an issue, closes it or opens it again. Labels and assignees are replaced.",
  docs: "https://docs.github.com/rest/issues/issues#update-an-issue",
  inputs: [
    owner,
    repo,
    issueNumber,
    text("title"),
    body,
    choice("state", [
      { id: "open", label: "Open" },
      { id: "closed", label: "Closed" },
    ]),
    choice(
      "state_reason",
      [
        { id: "completed", label: "Completed" },
        { id: "not_planned", label: "Not planned" },
        { id: "duplicate", label: "Duplicate" },
        { id: "reopened", label: "Opened again" },
      ],
      { title: "Reason", visibleWhen: { field: "state", value: ["open", "closed"] } },
    ),
    labels,
    assignees,
    milestone,
  ],
  outputs: ISSUE,
  request: { method: "PATCH", path: "/repos/{owner}/{repo}/issues/{issue_number}" },
  example: {
    owner: "octocat",
    repo: "hello-world",
    issue_number: 17,
    state: "closed",
    state_reason: "completed",
  },
};

const listIssues: ActionManifest = {
  name: "listIssues",
  title: "List issues",
  description:
    "Lists a repository's issues, the newest first; pull requests are among them and have pull_request.",
  docs: "https://docs.github.com/rest/issues/issues#list-repository-issues",
  inputs: [
    owner,
    repo,
    choice("state", [
      { id: "open", label: "Open" },
      { id: "closed", label: "Closed" },
      { id: "all", label: "All" },
    ]),
    { ...labels, description: "Names of labels; an issue must have all of them", join: "," },
    text("assignee", { description: "A login, none or *" }),
    text("creator", { description: "A login" }),
    text("since", {
      schema: z.iso.datetime(),
      description: "Only those changed since: 2026-01-31T00:00:00Z",
    }),
    choice("sort", [
      { id: "created", label: "Created" },
      { id: "updated", label: "Updated" },
      { id: "comments", label: "Comments" },
    ]),
    choice("direction", [
      { id: "desc", label: "Descending" },
      { id: "asc", label: "Ascending" },
    ]),
  ],
  outputs: ["issues", "hasMore"],
  request: { method: "GET", path: "/repos/{owner}/{repo}/issues" },
  paging: {
    items: "",
    member: "issues",
    size: { param: "per_page", max: 100 },
    next: { kind: "link" },
  },
  readOnly: true,
  example: { owner: "octocat", repo: "hello-world", state: "open", labels: ["bug"] },
};

const createComment: ActionManifest = {
  name: "createComment",
  title: "Create a comment",
  description: "Comments on an issue or a pull request.",
  docs: "https://docs.github.com/rest/issues/comments#create-an-issue-comment",
  inputs: [owner, repo, issueNumber, { ...body, required: true }],
  outputs: ["id", "body", "user", "html_url", "created_at", "updated_at"],
  request: { method: "POST", path: "/repos/{owner}/{repo}/issues/{issue_number}/comments" },
  example: { owner: "octocat", repo: "hello-world", issue_number: 17, body: "Thank you!" },
};

const createPullRequest: ActionManifest = {
  name: "createPullRequest",
  title: "Create a pull request",
  description: "Proposes to merge a branch into another.",
  docs: "https://docs.github.com/rest/pulls/pulls#create-a-pull-request",
  inputs: [
    owner,
    repo,
    text("title", { required: true }),
    text("head", { required: true, description: "The branch to merge; of a fork user:branch" }),
    text("base", { required: true, description: "The branch that it is merged into" }),
    body,
    flag("draft"),
    flag("maintainer_can_modify"),
  ],
  outputs: ["id", "number", "title", "state", "draft", "head", "base", "html_url", "created_at"],
  request: { method: "POST", path: "/repos/{owner}/{repo}/pulls" },
  example: {
    owner: "octocat",
    repo: "hello-world",
    title: "Mend it",
    head: "mend-it",
    base: "main",
  },
};

const dispatchWorkflow: ActionManifest = {
  name: "dispatchWorkflow",
  title: "Start a GitHub Actions workflow",
  description: "Starts a workflow of GitHub Actions that has the event workflow_dispatch.",
  docs: "https://docs.github.com/rest/actions/workflows#create-a-workflow-dispatch-event",
  inputs: [
    owner,
    repo,
    text("workflow_id", { title: "Workflow", required: true, description: "Its file: ci.yml" }),
    text("ref", { required: true, description: "A branch or tag" }),
    json("inputs", { description: "The inputs of the workflow, by name; 25 at most" }),
  ],
  outputs: ["workflow_run_id", "run_url", "html_url"],
  request: {
    method: "POST",
    path: "/repos/{owner}/{repo}/actions/workflows/{workflow_id}/dispatches",
    // Without this parameter the answer is empty and the run cannot be found.
    build: ({ parts }) => ({ ...parts, body: { ...Object(parts.body), return_run_details: true } }),
  },
  example: { owner: "octocat", repo: "hello-world", workflow_id: "ci.yml", ref: "main" },
};

/** Issues, pull requests and Actions. */
export const github: ProviderManifest = {
  id: "github",
  name: "GitHub",
  description: "Issues, comments, pull requests and workflows of GitHub Actions.",
  category: "development",
  docs: "https://docs.github.com/rest",
  baseUrl: "https://api.github.com",
  auth: {
    kind: "oauth",
    authorizeUrl: "https://github.com/login/oauth/authorize",
    tokenUrl: "https://github.com/login/oauth/access_token",
    // Revokes the person's grant with all its tokens, as a disconnected account expects.
    // https://docs.github.com/rest/apps/oauth-applications#delete-an-app-authorization
    revokeUrl: "https://api.github.com/applications/{clientId}/grant",
    revokeRequest: {
      method: "DELETE",
      basic: ["{clientId}", "{clientSecret}"],
      headers: {
        accept: "application/vnd.github+json",
        "x-github-api-version": "2022-11-28",
        "user-agent": "workflow-automation",
      },
      bodyType: "json",
      body: { access_token: "{accessToken}" },
    },
    // GitHub has no narrower scope for issues of private repositories.
    scopes: ["repo"],
    tokenAuth: "client_secret_post",
  },
  sign: { headers: { authorization: "Bearer {accessToken}" } },
  headers: {
    accept: "application/vnd.github+json",
    "x-github-api-version": "2022-11-28",
    // GitHub refuses requests without a user agent.
    "user-agent": "workflow-automation",
  },
  verify: { method: "GET", path: "/user", accountId: "id" },
  errors: { code: ["errors.0.code"], message: ["errors.0.message", "message"] },
  // A rate limit has status 403 or 429, with Retry-After or no remaining calls. Without both the wait is a
  // minute.
  rateLimit: {
    statuses: [403],
    remainingHeader: "x-ratelimit-remaining",
    resetHeader: { name: "x-ratelimit-reset", unit: "epochSeconds" },
    waitMs: 60_000,
  },
  actions: [
    createIssue,
    updateIssue,
    listIssues,
    createComment,
    createPullRequest,
    dispatchWorkflow,
  ],
};
