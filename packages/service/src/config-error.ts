/** One thing that is wrong with the configuration, in words. */
export interface ConfigProblem {
  setting: string;
  message: string;
}

/** The configuration is wrong; the message lists every problem, each on a line of its own. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const lines = problems.map(({ setting, message }) => `  ${setting}: ${message}`);
    super(`The configuration is not valid:\n${lines.join("\n")}`);
    this.problems = problems;
  }
}
