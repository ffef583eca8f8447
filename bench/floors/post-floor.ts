import { createHmac } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { Agent, request } from "undici";
import { postJob } from "./post-job.ts";
import type { PostJob } from "./post-job.ts";

/**
 * The floor under deliveries: signed POSTs straight from a process that stores nothing. Each body tells the time of
 * its making, as that of a run tells the time of the run's end.
 */
process.once("disconnect", () => process.exit());
process.on("message", (message) => {
  post(postJob.parse(message)).then(
    () => process.send?.({ done: true }),
    (error: unknown) => {
      throw error;
    },
  );
});

const SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

async function post({ url, count, connections, ratePerSecond, bodyBytes }: PostJob): Promise<void> {
  const dispatcher = new Agent({ connections });
  const filler = "x".repeat(bodyBytes);
  const startedAt = performance.now();
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      if (ratePerSecond !== null) {
        const wait = startedAt + (index * 1_000) / ratePerSecond - performance.now();
        if (wait > 0) await delay(wait);
      }
      const completedAt = new Date().toISOString();
      const body = JSON.stringify({ id: `evt_${index}`, completedAt, filler });
      const answer = await request(url, { method: "POST", dispatcher, body, headers: sign(body) });
      await answer.body.dump();
    }
  };
  await Promise.all(Array.from({ length: connections }, work));
  await dispatcher.close();
}

function sign(body: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signature = createHmac("sha256", SECRET).update(`${timestamp}.${body}`).digest("hex");
  return {
    "content-type": "application/json",
    "x-webhook-timestamp": timestamp,
    "x-webhook-signature": `t=${timestamp},v1=${signature}`,
  };
}
