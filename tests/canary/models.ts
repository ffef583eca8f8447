import { MODEL_TROUBLES, startAnthropicDouble, startOpenAiDouble } from "@workflow/testkit";
import type {
  AskedModel,
  ModelDouble,
  ModelReply,
  ModelTrouble,
  RecordedRequest,
} from "@workflow/testkit";

/** The doubles of both AI providers, by the settings that lead to them. */
export interface Models {
  settings: Readonly<Record<string, string>>;
  /** What both were sent. */
  requests(): readonly RecordedRequest[];
  close(): Promise<void>;
}

/** Troubles that an agent of the tour has; what streams for ever is left to tests of the limits. */
export const TROUBLES = MODEL_TROUBLES.filter((trouble) => trouble !== "huge");

/** What in an agent's prompt decides how the model answers it. */
export const troublePrompt = (trouble: ModelTrouble): string => `trouble:${trouble}`;
/** Answers that fit no schema. */
export const MISSING_PROMPT = "answer in prose";

/** Starts them; models repeat what they were asked, and in their errors the key as well. */
export async function startModels(keys: { openai: string; anthropic: string }): Promise<Models> {
  const openai = await startOpenAiDouble({ key: keys.openai });
  const anthropic = await startAnthropicDouble({ key: keys.anthropic });
  for (const double of [openai, anthropic]) double.reply = (asked) => replyTo(asked, double);
  return {
    settings: {
      OPENAI_API_KEY: openai.key,
      OPENAI_BASE_URL: openai.baseUrl,
      ANTHROPIC_API_KEY: anthropic.key,
      ANTHROPIC_BASE_URL: anthropic.baseUrl,
    },
    requests: () => [...openai.requests, ...anthropic.requests],
    async close() {
      await openai.close();
      await anthropic.close();
    },
  };
}

function replyTo(asked: AskedModel, { key }: ModelDouble): ModelReply {
  const said = asked.messages.map(({ text }) => text).join("\n");
  const trouble = TROUBLES.find((each) => asked.system.includes(troublePrompt(each)));
  if (trouble !== undefined) {
    return { trouble, message: `the key ${key} may not ask ${said}` };
  }
  if (asked.schema === null || asked.system.includes(MISSING_PROMPT)) return `I read ${said}`;
  // In every form that a careless model may give it.
  return JSON.stringify({
    text: said,
    base64: Buffer.from(said).toString("base64"),
    percent: encodeURIComponent(said),
  });
}
