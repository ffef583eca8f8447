import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * The levels of confinement for evaluators, strongest first. Node's permission model and the empty
 * environment apply at every level; each level adds:
 * - `isolated`: no network, no files but the system's programs and libraries, no sockets and processes
 *   that are found by path, a user without rights
 * - `no-network`: no network; a user without rights
 * - `unprivileged`: a user without rights
 * - `permissions`: nothing more
 */
export type ConfinementLevel = "isolated" | "no-network" | "unprivileged" | "permissions";

/** A way to start Node that works on this machine. */
export interface Confinement {
  readonly level: ConfinementLevel;
  /** The path of the program to start and its arguments, for Node's own arguments. */
  command(nodeArgs: readonly string[]): [program: string, args: string[]];
}

/** The user of evaluators that root starts: no other process or file has this id. */
const USER_ID = 65_533;

/** The time limit for util-linux to start Node, on a loaded machine. */
const TRY_MS_MAX = 20_000;

/** The processor time after which an orphaned evaluator ends, when nothing else ends it. */
const ORPHAN_CPU_SECONDS = 600;

/**
 * Finds the strongest level at which Node can start on this machine. Containers often forbid
 * namespaces, and systems other than Linux have none.
 *
 * @param levels the levels to try; for tests
 */
export async function findConfinement(
  levels: readonly ConfinementLevel[] = ["isolated", "no-network", "unprivileged"],
): Promise<Confinement> {
  for (const candidate of candidates(process.getuid?.() === 0)) {
    if (levels.includes(candidate.level) && (await works(candidate))) return candidate;
  }
  return withoutWrapper();
}

async function works(confinement: Confinement): Promise<boolean> {
  const [program, args] = confinement.command(["--version"]);
  try {
    const { stdout } = await run(program, args, { env: {}, timeout: TRY_MS_MAX });
    return stdout.trim() === process.version;
  } catch {
    return false;
  }
}

function candidates(isRoot: boolean): Confinement[] {
  // Only root can become another user, but everybody can be root in their own namespace.
  const own = isRoot ? [] : ["--map-root-user"];
  const become = isRoot ? [`--reuid=${USER_ID}`, `--regid=${USER_ID}`, "--clear-groups"] : [];
  // The kernel kills the evaluator with its parent, whatever it is doing.
  const death = ["--pdeathsig", "KILL"];
  const drop = ["--no-new-privs", "--inh-caps=-all"];
  const setpriv = [SETPRIV, ...become, ...drop, ...death];
  const setprivInside = [SETPRIV, ...become, ...drop, "--bounding-set=-all", ...death];
  const unshare = ["/usr/bin/unshare", ...own, "--net"];
  return [
    toConfinement("isolated", (node, args) => [
      ...unshare,
      "--mount",
      ...inJail(node),
      ...setprivInside,
      "/node",
      ...args,
    ]),
    toConfinement("no-network", (node, args) => [...unshare, ...setprivInside, node, ...args]),
    toConfinement("unprivileged", (node, args) => [...setpriv, node, ...args]),
  ];
}

/** The shell that enters the jail and then becomes the following program. */
function inJail(node: string): string[] {
  return ["/bin/sh", "-c", ENTER_JAIL, "evaluator", node];
}

const SETPRIV = "/usr/bin/setpriv";

/**
 * Makes a root folder in memory that contains only the system's programs, its libraries and Node, all
 * read-only: no /etc, /proc, /dev, /tmp, /run or data folder. `$1` is Node, and the following arguments
 * start inside. Node may be in a folder that only root can enter.
 */
const ENTER_JAIL = `
set -e
PATH=/usr/sbin:/usr/bin:/sbin:/bin
node=$1
shift
for root in /mnt /media /srv; do
  case $node in $root/*) continue ;; esac
  if [ -d $root ]; then break; fi
done
mount -t tmpfs -o size=16k,nr_inodes=64,mode=0755 tmpfs $root
for folder in /usr /bin /sbin /lib /lib64; do
  if [ -L $folder ]; then
    cp -P $folder $root/
  elif [ -d $folder ]; then
    mkdir $root$folder
    mount --rbind $folder $root$folder
  fi
done
: > $root/node
mount --bind "$node" $root/node
mount -o remount,bind,ro $root
unset PWD OLDPWD
exec chroot $root "$@"
`;

function toConfinement(
  level: ConfinementLevel,
  wrap: (node: string, nodeArgs: readonly string[]) => string[],
): Confinement {
  return {
    level,
    command(nodeArgs) {
      const [program = "", ...args] = wrap(process.execPath, nodeArgs);
      return [program, args];
    },
  };
}

/** Without util-linux only the limit of processor time ends an orphan that loops for ever. */
function withoutWrapper(): Confinement {
  const limitTime = `ulimit -t ${ORPHAN_CPU_SECONDS}; unset PWD OLDPWD; exec "$@"`;
  return toConfinement("permissions", (node, args) =>
    ["/bin/sh", "-c", limitTime, "evaluator", node].concat(args),
  );
}
