import { createRequire } from "node:module";
import type jestRuntime from "jest-runtime";

/*
 * Jest's module loader, which keeps the modules of packages and services from one test file of a worker
 * to the next (ADR 60). Loading and compiling them was half of the work of most files. Test files,
 * their support, the testkit and Jest's own modules are loaded anew for each file.
 */

// The package exports no types to imports.
const { default: Runtime }: typeof jestRuntime = createRequire(import.meta.url)("jest-runtime");

type RuntimeArguments = ConstructorParameters<typeof Runtime>;

const KEPT =
  /\/node_modules\/|\/(?:packages|services|deploy)\/(?!testkit\/)[\w-]+\/src\/|\/proto\/gen\//;

/** A runtime that belongs to one environment, with whose globals its modules were loaded. */
class KeepingRuntime extends Runtime {
  /** Prepares the runtime for another test file. */
  begin(testPath: string): void {
    Reflect.set(this, "_testPath", testPath);
    for (const part of ["esmLoader", "executor"]) {
      Reflect.set(memberOf(this, part), "testPath", testPath);
    }
    Reflect.set(memberOf(this, "testState"), "state", "loading");
    Reflect.set(memberOf(this, "jestGlobals"), "cachedEnvGlobals", undefined);
  }

  /**
   * Called by Jest when a test file has ended. Loading a module before the next file begins is an
   * error, as in Jest itself.
   */
  override teardown(): void {
    const registries = memberOf(this, "registries");
    const kept = ["moduleRegistry", "esModuleRegistry"].map((name) => {
      const registry = memberOf(registries, name);
      if (!(registry instanceof Map)) throw new Error(`Jest's ${name} is no map any more.`);
      return { registry, entries: [...registry].filter(([key, module]) => isKept(key, module)) };
    });
    super.teardown();
    for (const { registry, entries } of kept) {
      for (const [key, module] of entries) registry.set(key, module);
    }
  }
}

/** Modules that failed or are incomplete are loaded again. */
function isKept(key: unknown, module: unknown): boolean {
  if (typeof key !== "string" || !KEPT.test(key)) return false;
  if (typeof module !== "object" || module === null || module instanceof Promise) return false;
  const isCommonJs = "loaded" in module;
  return isCommonJs ? module.loaded === true : "status" in module && module.status === "evaluated";
}

function memberOf(owner: object, name: string): object {
  const member: unknown = Reflect.get(owner, name);
  if (typeof member === "object" && member !== null) return member;
  throw new Error(`Jest's runtime has no ${name} any more.`);
}

const runtimes = new WeakMap<object, KeepingRuntime>();

/** Called with `new` by Jest, for each test file. */
export default function runtimeOfFile(...given: RuntimeArguments): KeepingRuntime {
  const [, environment, , , , , testPath] = given;
  const known = runtimes.get(environment);
  if (known !== undefined) {
    known.begin(testPath);
    return known;
  }
  const runtime = new KeepingRuntime(...given);
  runtimes.set(environment, runtime);
  return runtime;
}
