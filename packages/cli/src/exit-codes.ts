/** The exit codes of the command. Scripts rely on them. */
export const EXIT = {
  ok: 0,
  refused: 1,
  usage: 2,
  unreachable: 3,
  notSignedIn: 4,
  notFound: 5,
  conflict: 6,
  rateLimited: 7,
  notWritten: 8,
  defect: 70,
  interrupted: 130,
} as const;

/** One of `EXIT`. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A line for each exit code, shown in help and README. */
export const EXIT_CODE_LINES: readonly string[] = [
  "0    done",
  "1    the server refused, or the run failed",
  "2    the command line or a file is wrong; nothing was sent",
  "3    the server cannot be reached, or does not answer",
  "4    not signed in, or not allowed",
  "5    not found",
  "6    somebody else has changed it, or it is in the wrong state",
  "7    too many requests",
  "8    something could not be written here: a full disk, a missing right",
  "70   a defect of this program, or an answer that it does not understand",
  "130  interrupted",
];
