import { createRequire } from "node:module";
import type vm from "node:vm";
import { setFlagsFromString } from "node:v8";
import { TestEnvironment } from "jest-environment-node";
import { explainError } from "./explain-error.ts";

/*
 * Every test file loads undici anew, whose parser is WebAssembly. Node 24 ends now and then with
 * "Check failed: jit_page_->allocations_.erase" when it frees wrappers of such code that it has compiled
 * once more (nodejs/node#64500). Nothing here is called often enough for that to be worth while.
 */
setFlagsFromString("--wasm-wrapper-tiering-budget=2147483647");
setFlagsFromString("--no-wasm-code-gc");

// The object that Jest's own environment reads `createContext` from, which an import would only copy.
const nodeVm: typeof vm = createRequire(import.meta.url)("node:vm");

/** The part of Jest's events that carries errors. */
interface TestEvent {
  name: string;
  error?: unknown;
  promise?: unknown;
}

/**
 * Node's environment, in which every error that fails a test says where it is from, and in which globals cost
 * what they cost outside of Jest.
 */
export default class ExplainingEnvironment extends TestEnvironment {
  /*
   * Jest's global object is a proxy: each `Object`, `Math` or `Promise` that code names asks it, which takes
   * thirty times as long as a lookup in an ordinary context and was half of the time of some test files. What
   * the proxy is for, to empty the globals of a finished file, is done by workers that end when they have grown.
   */
  constructor(...[config, context]: ConstructorParameters<typeof TestEnvironment>) {
    const { createContext, constants } = nodeVm;
    nodeVm.createContext = () => createContext(constants.DONT_CONTEXTIFY);
    try {
      super(config, context);
    } finally {
      nodeVm.createContext = createContext;
    }
  }

  /** Called before Jest prints the errors that the events carry. */
  handleTestEvent({ name, error, promise }: TestEvent): void {
    if (name === "test_fn_failure" || name === "hook_failure") explainError(error, "thrown");
    if (name === "error") {
      explainError(error, promise === undefined ? "uncaught" : "unhandled rejection");
    }
  }
}
