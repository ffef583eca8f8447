import { createRequire } from "node:module";
import type vm from "node:vm";
import { setFlagsFromString } from "node:v8";
import { TestEnvironment } from "jest-environment-node";
import { explainError } from "./explain-error.ts";
import { leftSince, look } from "./left-behind.ts";
import type { Held } from "./left-behind.ts";
import { takePiledListeners } from "./piled-listeners.ts";

/*
 * Every test file loads undici again, whose parser is WebAssembly. Node 24 sometimes ends with "Check
 * failed: jit_page_->allocations_.erase" when it frees wrappers of recompiled code (nodejs/node#64500).
 * Tests call nothing often enough to profit from the second compilation, so it is disabled.
 */
setFlagsFromString("--wasm-wrapper-tiering-budget=2147483647");
setFlagsFromString("--no-wasm-code-gc");

// Jest's own environment reads `createContext` from this object. An import would only copy it.
const nodeVm: typeof vm = createRequire(import.meta.url)("node:vm");

type EnvironmentArguments = ConstructorParameters<typeof TestEnvironment>;

/** The part of Jest's events that carries errors. */
interface TestEvent {
  name: string;
  error?: unknown;
  promise?: unknown;
  /** The errors that have failed the test, in events about a test. */
  test?: { readonly errors: unknown[] };
}

/** The part of Jest's state to which errors of a whole file are added. */
interface TestState {
  readonly unhandledErrors: unknown[];
}

/**
 * Node's environment, shared by a worker's test files one after the other. An error that fails a test
 * names its origin. Listeners that pile up on an answer fail the running test. A file that leaves a
 * process, a server, a socket or a thread behind fails. Access to globals is as fast as outside of
 * Jest.
 */
class ExplainingEnvironment extends TestEnvironment {
  /** The globals as they were before the first test file. */
  readonly #globals: ReadonlyMap<string, PropertyDescriptor>;
  readonly #exit: unknown;
  /** What this process held before the test file began. */
  #before: Held;

  /*
   * Replaces Jest's global object, which is a proxy. Each `Object`, `Math` or `Promise` in code asks
   * the proxy, which takes thirty times as long as a lookup in an ordinary context: half of the time of
   * some test files. The proxy serves to empty the globals of a finished file, and these globals are
   * not finished before the worker ends.
   */
  constructor(...[config, context]: EnvironmentArguments) {
    const { createContext, constants } = nodeVm;
    nodeVm.createContext = () => createContext(constants.DONT_CONTEXTIFY);
    try {
      super(config, context);
    } finally {
      nodeVm.createContext = createContext;
    }
    this.#globals = new Map(Object.entries(Object.getOwnPropertyDescriptors(this.global)));
    this.#exit = Reflect.get(this.global.process, "exit");
    this.#before = look();
  }

  /** Restores the globals and environment variables that the last test file has changed. */
  begin(): void {
    this.#before = look();
    for (const [name, before] of this.#globals) {
      const now = Object.getOwnPropertyDescriptor(this.global, name);
      const isSame = now !== undefined && now.value === before.value && now.get === before.get;
      if (before.configurable === true && !isSame) Object.defineProperty(this.global, name, before);
    }
    // Jest wraps `exit` and adds event handlers for each file.
    Reflect.set(this.global.process, "exit", this.#exit);
    Reflect.deleteProperty(this.global, Symbol.for("EVENT_HANDLERS"));
    const { env } = this.global.process;
    for (const name of Object.keys(env)) {
      if (process.env[name] === undefined) Reflect.deleteProperty(env, name);
    }
    Object.assign(env, process.env);
  }

  /**
   * Called when a test file has ended. The next file needs the context, which Jest's own teardown would
   * release.
   */
  override teardown(): Promise<void> {
    this.fakeTimersModern?.useRealTimers();
    return Promise.resolve();
  }

  /** Called before Jest prints the errors that the events carry. */
  handleTestEvent(event: TestEvent, state: TestState): Promise<void> | void {
    const { name, error, promise, test } = event;
    if (name === "run_finish") return this.#judgeLeftovers(state);
    if (name === "test_done") test?.errors.push(...takePiledListeners());
    if (name === "test_fn_failure" || name === "hook_failure") explainError(error, "thrown");
    if (name === "error") {
      explainError(error, promise === undefined ? "uncaught" : "unhandled rejection");
    }
  }

  /** Fails the test file when it leaves something behind. The hooks of the file have ended. */
  async #judgeLeftovers(state: TestState): Promise<void> {
    const left = await leftSince(this.#before);
    if (left.length === 0) return;
    const error = new Error(`The test file leaves behind:\n  ${left.join("\n  ")}`);
    // The stack would name this file, and nothing of the test file.
    error.stack = error.message;
    state.unhandledErrors.push(error);
  }
}

let environment: ExplainingEnvironment | undefined;

/** Called with `new` by Jest, for each test file. */
export default function environmentOfFile(...given: EnvironmentArguments): ExplainingEnvironment {
  const [{ globalConfig }, { docblockPragmas }] = given;
  // A file with this pragma tests packages that read variables when they are loaded.
  if (docblockPragmas["own-modules"] !== undefined) return new ExplainingEnvironment(...given);
  // Sources change while Jest watches them.
  const isWatching = globalConfig.watch || globalConfig.watchAll;
  if (environment === undefined || isWatching) environment = new ExplainingEnvironment(...given);
  else environment.begin();
  return environment;
}
