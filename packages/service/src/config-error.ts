/** One fault of the configuration. */
export interface ConfigProblem {
  setting: string;
  message: string;
}

/** The configuration is wrong. The message lists every problem on its own line. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.map(({ setting, message }) => `  ${setting}: ${message}`);
    super(`The configuration is not valid:\n${lines.join("\n")}`);
    this.problems = problems;
  }
}
