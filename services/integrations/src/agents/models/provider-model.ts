import type { ModelCall } from "./ask-once.ts";
import type { ModelAnswer, ModelQuestion } from "./model.ts";

/** Makes one HTTP request of a call, within the time and the limits of the exchange that it belongs to. */
export type SendCall = (call: Pick<ModelCall, "createModel" | "options">) => Promise<ModelAnswer>;

/** One provider's model, and how it is asked. */
export interface ProviderModel {
  /** Makes as many requests as it takes to find how the server wants to be asked. */
  ask(question: ModelQuestion, send: SendCall): Promise<ModelAnswer>;
}

/** Where a provider is, and which model of it is asked. */
export interface ProviderSettings {
  readonly apiKey: string;
  /** Without a slash at the end. */
  readonly baseUrl: string;
  readonly model: string;
}
