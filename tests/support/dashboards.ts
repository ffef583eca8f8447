import { expect } from "@jest/globals";
import { z } from "zod";
import { bySession, signIn } from "./people.ts";
import type { Company, WholeSystem } from "./whole-system.ts";

const withId = z.object({ id: z.string() });

/** The place and size of a widget. */
const place = z.object({
  id: z.string(),
  x: z.number(),
  y: z.number(),
  w: z.number(),
  h: z.number(),
});
/** The places of all widgets in an answer. */
export const layout = z.strictObject({ widgets: z.array(place), updatedAt: z.iso.datetime() });
const widget = z.strictObject({
  ...place.shape,
  type: z.string(),
  title: z.string(),
  config: z.unknown(),
  refresh: z.object({ intervalMs: z.number() }),
});
/** A dashboard with its widgets. */
export const dashboard = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  description: z.string().optional(),
  ownerId: z.uuid(),
  widgetCount: z.number(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  widgets: z.array(widget),
});

/** The options of a request in the name of a signed-in person. */
export type SignedIn = ReturnType<typeof bySession>;

/** Signs in a new person of the company whose role may change dashboards. */
export async function signInEditor(system: WholeSystem, company: Company): Promise<SignedIn> {
  return bySession(system, await signIn(system, await system.createPerson(company, "member")));
}

/** Makes a dashboard of the signed-in person with one widget. */
export async function makeDashboard(
  system: WholeSystem,
  session: SignedIn,
): Promise<{ id: string; widgetId: string }> {
  const body = { name: "Runs" };
  const dashboard = await system.call("POST", "/dashboards", { ...session, body });
  expect(dashboard.status).toBe(201);
  const { id } = withId.parse(dashboard.data);
  const widget = await system.call("POST", `/dashboards/${id}/widgets`, {
    ...session,
    body: { type: "metric", title: "All", config: { source: "runs" } },
  });
  expect(widget.status).toBe(201);
  return { id, widgetId: withId.parse(widget.data).id };
}

type Widget = z.output<typeof widget>;

/** The place and size of a widget alone. */
export const placeOf = ({ id, x, y, w, h }: Widget) => ({ id, x, y, w, h });

/** A widget without its place and size. */
export const contentOf = ({ id, type, title, config, refresh }: Widget) => ({
  id,
  type,
  title,
  config,
  refresh,
});

/** The requests of one person about dashboards. */
export function dashboardsOf(system: WholeSystem, session: SignedIn) {
  const send = (method: string, path: string, body?: unknown, who: SignedIn = session) =>
    system.call(method, path, body === undefined ? who : { ...who, body });

  const create = async (name = "Board"): Promise<string> =>
    dashboard.parse((await send("POST", "/dashboards", { name })).data).id;

  const add = async (id: string, body: object = {}): Promise<Widget> => {
    const answer = await send("POST", `/dashboards/${id}/widgets`, { type: "metric", ...body });
    expect(answer.error).toBeUndefined();
    return widget.parse(answer.data);
  };

  const read = async (id: string) =>
    dashboard.parse((await system.call("GET", `/dashboards/${id}`)).data);

  /** A dashboard with three widgets side by side. */
  const createWithThree = async () => {
    const id = await create();
    const widgets = [await add(id), await add(id), await add(id)];
    const at = (index: number, more: object = {}) => {
      const { id: widgetId = "", x, y, w, h } = widgets[index] ?? {};
      return { id: widgetId, x, y, w, h, ...more };
    };
    return { id, widgets, at, path: `/dashboards/${id}/layout` };
  };

  return { send, create, add, read, createWithThree };
}
