import type { ModelCall } from "./ask-once.ts";
import type { ModelAnswer, ModelQuestion } from "./model.ts";

/** Makes one HTTP request of a call, within the time and the limits of its exchange. */
export type SendCall = (call: Pick<ModelCall, "createModel" | "options">) => Promise<ModelAnswer>;

/** The model of one provider, and the form of its requests. */
export interface ProviderModel {
  /** Asks the model, with as many requests as it takes to find the form that the server accepts. */
  ask(question: ModelQuestion, send: SendCall): Promise<ModelAnswer>;
}

/** The address of a provider, and the model to ask. */
export interface ProviderSettings {
  readonly apiKey: string;
  /** The base URL without a trailing slash. */
  readonly baseUrl: string;
  readonly model: string;
}
