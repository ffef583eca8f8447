import { setUpNats } from "@workflow/events";
import { ConfigError } from "@workflow/service";
import type { Command } from "./command.ts";

/** Stands for the setting's value. */
const AS_SET = "NATS_REPLICAS";
const COPIES = { "1": 1, "3": 3, "5": 5 } as const;

export const setUpNatsCommand: Command = {
  summary: "Makes the streams and consumers that are missing on the NATS server of NATS_URL.",
  flags: { replicas: { placeholder: "1|3|5", default: AS_SET } },
  async run({ NATS_URL: servers, NATS_REPLICAS: asSet }, values) {
    if (servers === undefined) {
      throw new ConfigError([{ setting: "NATS_URL", message: "is required but not set" }]);
    }
    const given = values.oneOf("replicas", ["1", "3", "5", AS_SET]);
    const replicas = given === AS_SET ? asSet : COPIES[given];
    // The services tell which events they receive. Loading all of them would cost every command most of its time.
    const { EVENT_STREAMS } = await import("../event-consumers.ts");
    const made = await setUpNats({ servers, replicas, streams: EVENT_STREAMS });
    const lines = [
      ...made.streams.map((name) => `stream ${name}`),
      ...made.consumers.map((name) => `consumer ${name}`),
    ];
    return {
      json: { ...made },
      text: lines.length === 0 ? "Everything was there." : `Made:\n${lines.join("\n")}`,
      warnings: made.deviations.map(
        ({ of, field, is, should, losesEvents }) =>
          `${of}: ${field} is ${JSON.stringify(is)}, should be ${JSON.stringify(should)}` +
          (losesEvents ? "; events get lost" : ""),
      ),
    };
  },
};
