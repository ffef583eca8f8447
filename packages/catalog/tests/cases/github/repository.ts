/** The repository of the cases. */
export const HELLO = { owner: "octocat", repo: "hello-world" };

/** The path of the repository's issues. */
export const ISSUES = "/repos/octocat/hello-world/issues";
