import { setUpNats } from "@workflow/events";
import { ConfigError } from "@workflow/service";
import { EVENT_STREAMS } from "../event-consumers.ts";
import type { Command } from "./command.ts";

const COPIES = { "1": 1, "3": 3, "5": 5 } as const;

export const setUpNatsCommand: Command = {
  summary: "Makes the streams and consumers that are missing on the NATS server of NATS_URL.",
  flags: { replicas: { placeholder: "1|3|5", default: "1" } },
  async run({ NATS_URL: servers }, values) {
    if (servers === undefined) {
      throw new ConfigError([{ setting: "NATS_URL", message: "is required but not set" }]);
    }
    const replicas = COPIES[values.oneOf("replicas", ["1", "3", "5"])];
    const made = await setUpNats({ servers, replicas, streams: EVENT_STREAMS });
    const lines = [
      ...made.streams.map((name) => `stream ${name}`),
      ...made.consumers.map((name) => `consumer ${name}`),
    ];
    return {
      json: { ...made },
      text: lines.length === 0 ? "Everything was there." : `Made:\n${lines.join("\n")}`,
    };
  },
};
