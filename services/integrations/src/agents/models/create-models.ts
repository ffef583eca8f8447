import { TIMER_MS_MAX, Turns } from "@workflow/async";
import { createSafeHttpClient } from "@workflow/http-client";
import { createScrubber } from "@workflow/scrubber";
import type { Tracer } from "@workflow/tracing";
import { AnswerRooms } from "../../provider-http/answer-room.ts";
import type { AgentProvider } from "../../domain/agent.ts";
import type { Logger } from "pino";
import { createAnthropicModel } from "./anthropic.ts";
import { askOnce } from "./ask-once.ts";
import { timedOut } from "./call-failure.ts";
import type { CalledProvider } from "./call-failure.ts";
import { ModelCallError } from "./model-call-error.ts";
import { createModelFaults } from "./model-faults.ts";
import { ANSWER_BYTES_MAX } from "./provider-request.ts";
import type { ModelAnswer, AskOptions, ModelQuestion, Models } from "./model.ts";
import { createOpenAiModel } from "./openai.ts";
import type { OpenAiApi } from "./openai.ts";
import type { ProviderModel } from "./provider-model.ts";

/** The operator's settings of one provider. */
export interface OfferedModel {
  /** The provider's key; undefined when its agents can't be asked. */
  readonly apiKey?: string | undefined;
  /** The address of the provider or of a compatible server; may be private and without TLS. */
  readonly baseUrl: string;
  readonly model: string;
}

/** The dependencies of the models. */
export interface ModelsOptions {
  readonly openai: OfferedModel & { readonly api: OpenAiApi };
  readonly anthropic: OfferedModel;
  readonly dnsServers?: readonly string[] | undefined;
  readonly nat64Prefixes?: readonly string[] | undefined;
  /** Logs faults that only the operator can fix. */
  readonly logger: Logger;
  /** Makes the spans of recorded traces. */
  tracer?: Tracer | undefined;
}

/** The models of the installation, and the connections to them. */
export interface OpenModels extends Models {
  /** Refuses new questions and waits for those that were sent. */
  close(): Promise<void>;
}

const KEY_SETTINGS = { openai: "OPENAI_API_KEY", anthropic: "ANTHROPIC_API_KEY" } as const;

/**
 * The limit of concurrent requests to a provider; further questions wait for a place. The timeout of an
 * exchange starts with its place, that of the whole question includes the wait. One company has at most
 * half of the places. A waiting question costs nothing, because nothing was sent.
 */
const CALLS_UNDER_WAY = { perTenant: 128, total: 256 } as const;

/** Creates the models. Connections open with the first questions. */
export function createModels(options: ModelsOptions): OpenModels {
  const { dnsServers, nat64Prefixes, tracer } = options;
  // The operator sets the hosts, and no tenant can name one, so private addresses are allowed.
  const client = createSafeHttpClient({ allowPrivate: true, dnsServers, nat64Prefixes, tracer });
  // Each provider has its own places, so a provider that hangs does not delay the other.
  const turns = { openai: new Turns(CALLS_UNDER_WAY), anthropic: new Turns(CALLS_UNDER_WAY) };
  const rooms = new AnswerRooms();
  const models = openProviders(options);
  const faults = createModelFaults(options.logger);

  const missingSetting = (provider: AgentProvider): string | null =>
    models[provider] === null ? KEY_SETTINGS[provider] : null;

  const askWithin = async (
    { model, called }: OpenedProvider,
    question: ModelQuestion,
    { companyId, traceparent, signal, timeoutMs, onSent }: AskOptions,
  ): Promise<ModelAnswer> => {
    const room = rooms.open({ companyId, bytesMax: ANSWER_BYTES_MAX, signal });
    const requester = client.forTenant(companyId, traceparent);
    const exchange = { client: requester, signal, timeoutMs, onSent, room };
    try {
      return await model.ask(question, (call) => askOnce({ ...call, question, called }, exchange));
    } finally {
      room.leave();
    }
  };

  return {
    modelOf: (provider) => options[provider].model,
    missingSetting,
    coreProvider: () =>
      models.openai === null && models.anthropic !== null ? "anthropic" : "openai",
    async ask(provider, question, exchange) {
      const opened = models[provider];
      if (opened === null) throw notConfigured(provider);
      const startedAt = performance.now();
      const { companyId, signal, leftMs } = exchange;
      const waiting = { signal, timeoutMs: leftMs, late: noPlace(provider) };
      const giveBack = await withinTime(waiting, (stop) => turns[provider].take(companyId, stop));
      const restMs = leftMs - (performance.now() - startedAt);
      const timeoutMs = toTimeout(Math.min(exchange.timeoutMs, restMs));
      try {
        const answer = await withinTime({ signal, timeoutMs, late: timedOut(provider) }, (stop) =>
          askWithin(opened, question, { ...exchange, signal: stop, timeoutMs }),
        );
        faults.passed(provider);
        return answer;
      } catch (error) {
        faults.note(provider, error);
        throw error;
      } finally {
        giveBack();
      }
    },
    close: () => client.close(),
  };
}

interface OpenedProvider {
  readonly model: ProviderModel;
  readonly called: CalledProvider;
}

function openProviders({
  openai,
  anthropic,
}: ModelsOptions): Readonly<Record<AgentProvider, OpenedProvider | null>> {
  const open = (
    provider: AgentProvider,
    { apiKey, baseUrl, model }: OfferedModel,
    create: (settings: { apiKey: string; baseUrl: string; model: string }) => ProviderModel,
  ): OpenedProvider | null =>
    apiKey === undefined
      ? null
      : {
          model: create({ apiKey, baseUrl: baseUrl.replace(/\/+$/, ""), model }),
          called: {
            provider,
            keySetting: KEY_SETTINGS[provider],
            scrubber: createScrubber([apiKey]),
          },
        };
  return {
    openai: open("openai", openai, (settings) => createOpenAiModel(settings, openai.api)),
    anthropic: open("anthropic", anthropic, createAnthropicModel),
  };
}

/** The error for a provider whose key the operator has not set. */
export function notConfigured(provider: AgentProvider): ModelCallError {
  const message = `Agents of the provider ${provider} can't be asked: ${KEY_SETTINGS[provider]} is not set.`;
  return new ModelCallError(message, {
    provider,
    code: "NOT_CONFIGURED",
    status: null,
    retryable: false,
    mayHaveCost: false,
  });
}

/** The error for a question that waited for a place until its timeout. */
function noPlace(provider: AgentProvider): ModelCallError {
  const message = `Too many questions to AI providers were under way to ask ${provider} in time.`;
  return new ModelCallError(message, {
    provider,
    code: "AGENT_TIMEOUT",
    status: null,
    retryable: true,
    mayHaveCost: false,
  });
}

/**
 * Limits all of the work by one timeout, which ends it with the error of `late`. The caller's signal
 * ends the work too.
 */
async function withinTime<T>(
  { signal, timeoutMs, late }: { signal: AbortSignal; timeoutMs: number; late: ModelCallError },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(late), toTimeout(timeoutMs));
  const onAbort = (): void => stop.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await work(stop.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

function toTimeout(timeoutMs: number): number {
  return Math.min(Math.max(Math.ceil(timeoutMs), 1), TIMER_MS_MAX);
}
