import type { CommandUnknownOpts, Option } from "@commander-js/extra-typings";

/**
 * The completions of a command line. `words` follow the program's name; the last one is incomplete. Empty where the
 * shell's own completion of files is better.
 */
export function candidates(
  program: CommandUnknownOpts,
  words: readonly string[],
  profiles: readonly string[],
): string[] {
  const begun = words.at(-1) ?? "";
  const { command, pending, positions } = walk(program, words.slice(0, -1));
  return all(program, { command, pending, positions, profiles, begun }).filter((candidate) =>
    candidate.startsWith(begun),
  );
}

interface Place {
  /** The command that the words select. */
  command: CommandUnknownOpts;
  /** The option whose value comes next. */
  pending: Option | undefined;
  /** How many arguments the command has received. */
  positions: number;
}

function all(
  program: CommandUnknownOpts,
  {
    command,
    pending,
    positions,
    profiles,
    begun,
  }: Place & { profiles: readonly string[]; begun: string },
): string[] {
  if (pending !== undefined) {
    return pending.long === "--profile" ? [...profiles] : [...(pending.argChoices ?? [])];
  }
  if (begun.startsWith("-")) {
    const options = [...command.options, ...program.options].filter(({ hidden }) => !hidden);
    return [...new Set([...options.map(({ long, short }) => long ?? short ?? ""), "--help"])];
  }
  const subcommands = command.commands
    .map((sub) => sub.name())
    .filter((name) => !name.startsWith("_"));
  if (subcommands.length > 0) return subcommands;
  const argument = command.registeredArguments[positions];
  if (command.parent?.name() === "profiles" && command.name() === "use") return [...profiles];
  return [...(argument?.argChoices ?? [])];
}

function walk(program: CommandUnknownOpts, words: readonly string[]): Place {
  const place: Place = { command: program, pending: undefined, positions: 0 };
  for (const word of words) {
    if (place.pending !== undefined) {
      place.pending = undefined;
      continue;
    }
    if (word.startsWith("-")) {
      const options = [...place.command.options, ...program.options];
      const option = options.find(({ long, short }) => long === word || short === word);
      place.pending = option?.required === true ? option : undefined;
      continue;
    }
    const next = place.command.commands.find(
      (sub) => sub.name() === word || sub.aliases().includes(word),
    );
    if (next === undefined) place.positions += 1;
    else place.command = next;
  }
  return place;
}
