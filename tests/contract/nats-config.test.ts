import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { newId, newUuid } from "@workflow/db";
import { createNatsEventBus, natsConfigFiles, setUpNats } from "@workflow/events";
import type { EventBus } from "@workflow/events";
import { startLocalNats, waitFor } from "@workflow/testkit";
import type { LocalNats } from "@workflow/testkit";
import { connect } from "nats";
import type { JetStreamManager, NatsConnection } from "nats";
import { pino } from "pino";
import { z } from "zod";
import { EVENT_STREAMS } from "../../deploy/dev/src/event-consumers.ts";

/*
 * deploy/nats/streams and deploy/nats/consumers: what services and set-up-nats make, as files for the
 * command line of NATS. UPDATE_NATS=1 writes them.
 */

const FOLDER = join(import.meta.dirname, "../../deploy/nats");
const KINDS = ["streams", "consumers"];
const config = z.record(z.string(), z.unknown());

let nats: LocalNats;
let connection: NatsConnection;
let manager: JetStreamManager;
beforeAll(async () => {
  if (process.env["UPDATE_NATS"] === "1") await writeFiles();
  // Never a shared one: others' streams have these names, too.
  nats = await startLocalNats({ file: join(import.meta.dirname, "nats-plain.conf"), env: {} });
  connection = await connect({ servers: nats.url });
  manager = await connection.jetstreamManager();
});
afterAll(async () => {
  await connection.close();
  await nats.stop();
});

async function writeFiles(): Promise<void> {
  for (const kind of KINDS) await rm(join(FOLDER, kind), { recursive: true, force: true });
  for (const [path, text] of natsConfigFiles(EVENT_STREAMS)) {
    await mkdir(dirname(join(FOLDER, path)), { recursive: true });
    await writeFile(join(FOLDER, path), text);
  }
}

async function listFiles(kind: string): Promise<string[]> {
  const found = await readdir(join(FOLDER, kind), { recursive: true });
  return found.filter((path) => path.endsWith(".json")).map((path) => `${kind}/${path}`);
}

async function readConfig(path: string): Promise<Record<string, unknown>> {
  return config.parse(JSON.parse(await readFile(join(FOLDER, path), "utf8")));
}

/** Makes everything from the files, as the command line of NATS does. */
async function makeFromFiles(): Promise<void> {
  const ask = async (subject: string, body: object): Promise<void> => {
    const answer = await connection.request(`$JS.API.${subject}`, JSON.stringify(body));
    expect(answer.json()).not.toHaveProperty("error");
  };
  for (const stream of Object.keys(EVENT_STREAMS)) {
    await ask(`STREAM.CREATE.${stream}`, await readConfig(`streams/${stream}.json`));
    for (const consumer of EVENT_STREAMS[stream] ?? []) {
      await ask(`CONSUMER.DURABLE.CREATE.${stream}.${consumer}`, {
        stream_name: stream,
        config: await readConfig(`consumers/${stream}/${consumer}.json`),
      });
    }
  }
}

async function deleteAll(): Promise<void> {
  for (const stream of Object.keys(EVENT_STREAMS)) await manager.streams.delete(stream);
}

interface Told {
  level: number;
  stream?: string;
  consumer?: string;
  field?: string;
  is?: unknown;
  should?: unknown;
}

/** A bus that publishes on every stream and has every consumer; `told` is what it warns of. */
async function openBus(): Promise<{ bus: EventBus; told: Told[] }> {
  const told: Told[] = [];
  const logger = pino({ level: "warn" }, { write: (line: string) => void told.push(read(line)) });
  const bus = createNatsEventBus({ servers: nats.url, name: "checks", logger });
  for (const [stream, consumers] of Object.entries(EVENT_STREAMS)) {
    const seen: string[] = [];
    for (const consumer of consumers) {
      const handler = async ({ id }: { id: string }): Promise<void> => void seen.push(id);
      await bus.subscribe({ stream, consumer, handler });
    }
    const id = newId("evt_");
    const timestamp = new Date().toISOString();
    const body = JSON.stringify({ id, type: "a.b", timestamp, companyId: newUuid(), data: {} });
    const event = { id, stream, type: "a.b", body };
    await waitFor(() =>
      bus.publish([event]).then(
        () => true,
        () => false,
      ),
    );
    await waitFor(() => seen.length >= consumers.length);
  }
  return { bus, told };
}

const toldLine = z.looseObject({ level: z.number() });
function read(line: string): Told {
  return toldLine.parse(JSON.parse(line));
}

describe("the files of deploy/nats", () => {
  it("are those of every stream and consumer, as they are made", async () => {
    const made = natsConfigFiles(EVENT_STREAMS);
    const found = await Promise.all(KINDS.map(listFiles));
    expect(found.flat().toSorted()).toEqual([...made.keys()].toSorted());
    for (const [path, text] of made) {
      expect([path, await readFile(join(FOLDER, path), "utf8")]).toEqual([path, text]);
    }
  });

  it("make what services have nothing to complain of, and what set-up-nats leaves as it is", async () => {
    await makeFromFiles();
    const { bus, told } = await openBus();
    await bus.close();
    expect(told).toEqual([]);
    expect(await setUpNats({ servers: nats.url, streams: EVENT_STREAMS, replicas: 1 })).toEqual({
      streams: [],
      consumers: [],
      deviations: [],
    });
    await deleteAll();
  });

  it("say what services make by themselves", async () => {
    const { bus } = await openBus();
    await bus.close();
    for (const [stream, consumers] of Object.entries(EVENT_STREAMS)) {
      const info = await manager.streams.info(stream);
      expect(info.config).toMatchObject(await readConfig(`streams/${stream}.json`));
      for (const consumer of consumers) {
        const file = await readConfig(`consumers/${stream}/${consumer}.json`);
        expect((await manager.consumers.info(stream, consumer)).config).toMatchObject(file);
      }
    }
    await deleteAll();
  });
});

describe("what somebody has set up otherwise", () => {
  it("is told by services and by set-up-nats, as an error where events get lost", async () => {
    await makeFromFiles();
    const [stream, consumer] = ["runs", "webhooks-deliveries"];
    await manager.streams.delete(stream);
    const file = await readConfig(`streams/${stream}.json`);
    await connection.request(
      `$JS.API.STREAM.CREATE.${stream}`,
      JSON.stringify({ ...file, discard: "old", max_age: 3_600e9, duplicate_window: 60e9 }),
    );
    await connection.request(
      `$JS.API.CONSUMER.DURABLE.CREATE.${stream}.${consumer}`,
      JSON.stringify({
        stream_name: stream,
        config: {
          ...(await readConfig(`consumers/${stream}/${consumer}.json`)),
          max_deliver: 5,
          ack_wait: 5e9,
        },
      }),
    );
    const { bus, told } = await openBus();
    await bus.close();
    const [warning, error] = [40, 50];
    const of = ({ level, field, is, should }: Told) => ({ level, field, is, should });
    const ofStream = told.filter((line) => line.consumer === undefined);
    expect(told.every((line) => line.stream === stream)).toBe(true);
    expect(ofStream.map(of)).toEqual([
      { level: error, field: "discard", is: "old", should: "new" },
      { level: error, field: "max_age", is: 3_600e9, should: 7 * 24 * 3_600e9 },
      { level: warning, field: "duplicate_window", is: 60e9, should: 120e9 },
    ]);
    expect(told.filter((line) => line.consumer === consumer).map(of)).toEqual([
      { level: error, field: "max_deliver", is: 5, should: -1 },
      { level: warning, field: "ack_wait", is: 5e9, should: 30e9 },
    ]);
    const { deviations } = await setUpNats({
      servers: nats.url,
      streams: EVENT_STREAMS,
      replicas: 1,
    });
    expect(deviations.map((each) => `${each.of} ${each.field}`)).toEqual([
      "runs discard",
      "runs max_age",
      "runs duplicate_window",
      "runs.webhooks-deliveries max_deliver",
      "runs.webhooks-deliveries ack_wait",
    ]);
    await deleteAll();
  });
});
