import { TestEnvironment } from "jest-environment-node";
import { explainError } from "./explain-error.ts";
import "./keep-wasm.ts";

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
