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

/** The part of Jest's events that carries errors. */
interface TestEvent {
  name: string;
  error?: unknown;
  promise?: unknown;
}

/** Node's environment, in which every error that fails a test says where it is from. */
export default class ExplainingEnvironment extends TestEnvironment {
  /** Called before Jest prints the errors that the events carry. */
  handleTestEvent({ name, error, promise }: TestEvent): void {
    if (name === "test_fn_failure" || name === "hook_failure") explainError(error, "thrown");
    if (name === "error") {
      explainError(error, promise === undefined ? "uncaught" : "unhandled rejection");
    }
  }
}
