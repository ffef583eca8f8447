import { expect } from "@jest/globals";
import { fc } from "@workflow/testkit/property-test";
import { z } from "zod";
import type { DrivenSystem } from "../../support/driven-system.ts";
import { createSenders, sendRaw } from "../../support/raw-requests.ts";
import { send } from "../support/commands.ts";
import type { Action } from "../support/commands.ts";

/** The one connection that a company has with google-mail, and those of a provider with keys. */
export interface ConnectionModel {
  mail: {
    id: string;
    status: "pending" | "active" | "error" | "disconnected";
    /** Where a person may still be sent: each way works once. */
    authUrl: string | null;
  } | null;
  ledger: { id: string; key: string; isRevoked: boolean; status: "active" | "error" } | null;
  /** Makes keys that differ. */
  keys: number;
}

const MAIL = "google-mail";
const LEDGER = "rillet";
/** What the service says of a connection that has ended or never began. */
const UNUSABLE = ["pending", "disconnected"];
const begun = z.looseObject({ connectionId: z.string(), authUrl: z.string(), isNew: z.boolean() });
const connected = z.looseObject({ id: z.string() });
const listed = z.array(z.looseObject({ id: z.string(), provider: z.string(), status: z.string() }));
/** Of one address there are so many callbacks a minute. */
const nextSender = createSenders();

/** Nothing is connected when a sequence begins; an account that earlier ones authorized is disconnected. */
export async function createModel(system: DrivenSystem): Promise<ConnectionModel> {
  const request = ["GET", "/connections?limit=100"] as const;
  for (const { id } of listed.parse((await send(system, request, [200])).data)) {
    await send(system, ["DELETE", `/connections/${id}`], [200]);
  }
  const left = listed.parse((await send(system, request, [200])).data);
  const mail = left.find(({ provider, status }) => provider === MAIL && status === "disconnected");
  return {
    mail: mail === undefined ? null : { id: mail.id, status: "disconnected", authUrl: null },
    ledger: null,
    keys: 0,
  };
}

/** Everything that is done to connections. */
export const CONNECTION_ACTIONS: fc.Arbitrary<Action<ConnectionModel>>[] = [
  always("ask where to authorize", askAuthUrl),
  always("come back with consent", comeBack),
  always("come back with a forged code", comeBackForged),
  always("connect by a key", connectByKey),
  fc.constant({
    name: "have the key revoked",
    when: ({ ledger }) => ledger !== null,
    run: async ({ ledger }, { providers }) => {
      if (ledger === null) return;
      ledger.isRevoked = true;
      providers.revoked.add(ledger.key);
    },
  }),
  ...(["mail", "ledger"] as const).flatMap((which) => [
    always(`verify ${which}`, verify(which)),
    always(`refresh ${which}`, refresh(which)),
    always(`read ${which}`, read(which)),
    always(`delete ${which}`, remove(which)),
  ]),
];

function always(
  name: string,
  run: Action<ConnectionModel>["run"],
): fc.Arbitrary<Action<ConnectionModel>> {
  return fc.constant({ name, run });
}

async function askAuthUrl(model: ConnectionModel, system: DrivenSystem): Promise<void> {
  const isActive = model.mail?.status === "active";
  const expected = isActive ? ([400, "BAD_REQUEST"] as const) : ([200] as const);
  const { data } = await send(system, ["GET", `/connections/${MAIL}/auth-url`], expected);
  if (isActive) return;
  const { connectionId, authUrl, isNew } = begun.parse(data);
  // An attempt that nobody has completed is given up for the next one; a connection is taken up again.
  const isTakenUp = model.mail?.status === "error" || model.mail?.status === "disconnected";
  const known = isTakenUp ? model.mail : null;
  expect(isNew).toBe(known === null);
  if (known !== null) expect(connectionId).toBe(known.id);
  model.mail = { id: connectionId, status: known?.status ?? "pending", authUrl };
}

async function comeBack({ mail }: ConnectionModel, system: DrivenSystem): Promise<void> {
  if (mail?.authUrl === null || mail?.authUrl === undefined) return;
  const { pathname, search } = await system.oauth.visit(mail.authUrl);
  mail.authUrl = null;
  const path = pathname.replace("/api/v1", "") + search;
  const { status, text } = await sendRaw(system, { method: "GET", path, from: nextSender() });
  expect({ status, text }).toMatchObject({ status: 200 });
  mail.status = "active";
}

async function comeBackForged(model: ConnectionModel, system: DrivenSystem): Promise<void> {
  const id = model.mail?.id ?? "conn_01jzsa0pjtf9d8m9d8m9d8m9d8";
  const path = `/connections/${MAIL}/callback?connectionId=${id}&success=true&state=made-up&code=x`;
  const { status } = await sendRaw(system, { method: "GET", path, from: nextSender() });
  expect(status).toBe(404);
  await read("mail")(model, system);
}

async function connectByKey(model: ConnectionModel, system: DrivenSystem): Promise<void> {
  model.keys += 1;
  const key = `good-${model.keys}-${nextSender()}`;
  const body = { apiKey: key, ...(model.ledger !== null && { connectionId: model.ledger.id }) };
  const request = ["POST", `/connections/${LEDGER}/api-key`, body] as const;
  const { data } = await send(system, request, [model.ledger === null ? 201 : 200]);
  model.ledger = { id: connected.parse(data).id, key, isRevoked: false, status: "active" };
}

type Which = "mail" | "ledger";

function verify(which: Which): Action<ConnectionModel>["run"] {
  return async (model, system) => {
    const connection = model[which];
    if (connection === null) return;
    const { data } = await send(system, ["POST", `/connections/${connection.id}/verify`], [200]);
    if (!UNUSABLE.includes(connection.status))
      connection.status = isGood(model, which) ? "active" : "error";
    const healthy = connection.status === "active";
    expect(data).toMatchObject({ healthy, status: connection.status });
    if (healthy) expect(data).toMatchObject({ error: null });
  };
}

function refresh(which: Which): Action<ConnectionModel>["run"] {
  return async (model, system) => {
    const connection = model[which];
    if (connection === null) return;
    const request = ["POST", `/connections/${connection.id}/refresh`] as const;
    if (UNUSABLE.includes(connection.status))
      return void (await send(system, request, [400, "BAD_REQUEST"]));
    const good = isGood(model, which);
    await send(system, request, good ? [200] : [500, "INTERNAL_ERROR"]);
    connection.status = good ? "active" : "error";
  };
}

function isGood({ ledger }: ConnectionModel, which: Which): boolean {
  return which === "mail" || ledger?.isRevoked === false;
}

function read(which: Which): Action<ConnectionModel>["run"] {
  return async (model, system) => {
    const connection = model[which];
    if (connection === null) return;
    const { data } = await send(system, ["GET", `/connections/${connection.id}`], [200]);
    expect(data).toMatchObject({ id: connection.id, status: connection.status });
  };
}

function remove(which: Which): Action<ConnectionModel>["run"] {
  return async (model, system) => {
    const connection = model[which];
    if (connection === null) return;
    const path = `/connections/${connection.id}`;
    await send(system, ["DELETE", path], [200]);
    // What a person has authorized is kept without its access.
    if (which === "mail" && connection.status !== "pending") {
      model.mail = { id: connection.id, status: "disconnected", authUrl: null };
      return read("mail")(model, system);
    }
    await send(system, ["GET", path], [404, "NOT_FOUND"]);
    await send(system, ["DELETE", path], [404, "NOT_FOUND"]);
    await send(system, ["POST", `${path}/verify`], [404, "NOT_FOUND"]);
    model[which] = null;
  };
}
