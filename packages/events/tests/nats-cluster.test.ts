import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { LocalNatsCluster } from "@workflow/testkit";
import { startLocalNatsCluster, waitFor } from "@workflow/testkit";
import { connect } from "nats";
import type { EventBus } from "../src/index.ts";
import { createNatsEventBus } from "../src/index.ts";
import {
  idsOf,
  makeEvents,
  newStreamName,
  publishUntilDurable,
  silentLogger,
} from "./support/events.ts";

/** How long servers of a busy machine may take to agree on a leader. */
const ELECTION_MS = 60_000;
const BATCH = 20;
/** Events in the hands of the consumer, as many as it takes by default, and as many acknowledgements. */
const UNDER_WAY_MAX = 32;
/** Between two batches, so that events are on their way at any moment without filling the disk. */
const PACE_MS = 20;

let cluster: LocalNatsCluster;
let buses: EventBus[];
beforeAll(async () => {
  cluster = await startLocalNatsCluster();
  buses = [0, 1].map((number) =>
    createNatsEventBus({
      servers: cluster.url,
      name: `node-${number}`,
      logger: silentLogger,
      replicas: 3,
      ackWaitMs: 2_000,
      redeliverFirstMs: 20,
    }),
  );
});
afterAll(async () => {
  await Promise.all(buses.map((bus) => bus.close()));
  await cluster.stop();
});

describe("the NATS bus on a cluster of three", () => {
  it("loses nothing and doubles little while its leader and another node are killed", async () => {
    const [publisher, consumer] = buses;
    if (publisher === undefined || consumer === undefined) throw new Error("There are two.");
    const stream = newStreamName();
    const times = new Map<string, number>();
    await consumer.subscribe({
      stream,
      consumer: "reader",
      handler: async ({ id }) => void times.set(id, (times.get(id) ?? 0) + 1),
    });
    const published: string[] = [];
    const publish = async (): Promise<void> => {
      const batch = makeEvents(stream, BATCH);
      await publishUntilDurable(publisher, batch, ELECTION_MS);
      published.push(...idsOf(batch));
    };
    await publish();
    expect((await infoOf(stream)).config.num_replicas).toBe(3);

    let isOver = false;
    const publishing = (async () => {
      for (; !isOver; await pause(PACE_MS)) await publish();
    })();
    const leader = (await infoOf(stream)).cluster?.leader;
    expect(cluster.nodes.map(({ name }) => name)).toContain(leader);
    const first = cluster.nodes.filter(({ name }) => name === leader);
    const others = cluster.nodes.filter(({ name }) => name !== leader);
    const victims = [...first, ...others.slice(0, 1)];
    for (const node of victims) {
      const before = published.length;
      await node.kill();
      // The other two go on, and it has caught up, before the next one goes.
      await waitFor(() => published.length >= before + 2 * BATCH, {
        timeoutMs: ELECTION_MS,
        what: `events to be published without ${node.name}`,
      });
      node.start();
      await waitFor(() => allCurrent(stream), { timeoutMs: ELECTION_MS, what: "three copies" });
    }
    isOver = true;
    await publishing;
    await waitFor(() => times.size >= published.length, {
      timeoutMs: ELECTION_MS,
      what: "all events to be consumed",
    });
    expect([...times.keys()].toSorted()).toEqual(published.toSorted());
    const doubles = [...times.values()].reduce((sum, count) => sum + count - 1, 0);
    // What was being handled, or acknowledged, when a node went.
    expect(doubles).toBeLessThanOrEqual(victims.length * UNDER_WAY_MAX);
  });
});

async function infoOf(stream: string) {
  const connection = await connect({ servers: cluster.url.split(","), timeout: 2_000 });
  try {
    return await (await connection.jetstreamManager()).streams.info(stream);
  } finally {
    await connection.close();
  }
}

/** Whether every copy has all that is in the stream. */
async function allCurrent(stream: string): Promise<boolean> {
  try {
    const { leader, replicas = [] } = (await infoOf(stream)).cluster ?? {};
    const current = replicas.filter((replica) => replica.current && !replica.offline);
    return leader !== undefined && current.length === 2;
  } catch {
    return false;
  }
}
