import { z } from "zod";
import type { Scope } from "@workflow/async";
import { startHelper } from "../../../bench/child-process.ts";

/** What HTTP steps call, in a process of its own. */
export interface Receiver {
  /** Answers after so many milliseconds. */
  slowUrl(ms: number): string;
  /** Answers with so many bytes of text. */
  largeUrl(bytes: number): string;
}

/** Starts a receiver, which ends with the scope. */
export async function startReceiver(scope: Scope): Promise<Receiver> {
  const helper = startHelper(scope, "receiver-process.ts", import.meta.url);
  const { origin } = await helper.ask("start", z.object({ origin: z.string() }));
  return {
    slowUrl: (ms) => `${origin}/slow/${ms}`,
    largeUrl: (bytes) => `${origin}/large/${bytes}`,
  };
}
