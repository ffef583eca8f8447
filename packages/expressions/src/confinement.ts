import { execFile } from "node:child_process";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * How far evaluators are confined, strongest first. Node's permission model and the empty environment
 * hold at every level; what is named here comes on top.
 *
 * - `isolated`: no network, no files but the system's programs and libraries, none of the sockets and
 *   processes that are found by path, a user without rights
 * - `no-network`: no network; a user without rights
 * - `unprivileged`: a user without rights
 * - `permissions`: nothing more
 */
export type ConfinementLevel = "isolated" | "no-network" | "unprivileged" | "permissions";

/** A way to start Node that this machine allows. */
export interface Confinement {
  readonly level: ConfinementLevel;
  /** The program to start, by its path, and its arguments, for Node's own arguments. */
  command(nodeArgs: readonly string[]): [program: string, args: string[]];
}

/** What the processes of root run as: nobody's processes or files have this id. */
const USER_ID = 65_533;

/** What a wrapper of util-linux may take to start Node, on a machine under load. */
const TRY_MS_MAX = 20_000;

/** Processor time after which an evaluator that has lost its parent ends where nothing else ends it. */
const ORPHAN_CPU_SECONDS = 600;

/**
 * Finds the strongest level at which the machine lets Node start. Containers commonly refuse
 * namespaces, and other systems than Linux have no such thing.
 *
 * @param levels those to try; for tests
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
  // Only root can become somebody else; everybody can be root in a namespace of their own.
  const own = isRoot ? [] : ["--map-root-user"];
  const become = isRoot ? [`--reuid=${USER_ID}`, `--regid=${USER_ID}`, "--clear-groups"] : [];
  // The kernel ends it with its parent, whatever it is doing.
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

/** The shell that enters the jail and then becomes what follows. */
function inJail(node: string): string[] {
  return ["/bin/sh", "-c", ENTER_JAIL, "evaluator", node];
}

const SETPRIV = "/usr/bin/setpriv";

/**
 * Makes a root folder of its own, in memory, in which there are the system's programs, libraries and
 * Node, all read-only, and nothing else: no /etc, /proc, /dev, /tmp, /run or data folder. `$1` is
 * Node, what follows is started in there. Node may lie where only root can enter.
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

/** Without util-linux nothing ends an orphan that loops for ever but its processor time. */
function withoutWrapper(): Confinement {
  const limitTime = `ulimit -t ${ORPHAN_CPU_SECONDS}; unset PWD OLDPWD; exec "$@"`;
  return toConfinement("permissions", (node, args) =>
    ["/bin/sh", "-c", limitTime, "evaluator", node].concat(args),
  );
}
