import { expect } from "@jest/globals";
import { z } from "zod";
import { bySession, signIn } from "./people.ts";
import type { Company, WholeSystem } from "./whole-system.ts";

const withId = z.object({ id: z.string() });

/** What makes a request one of a signed-in person. */
export type SignedIn = ReturnType<typeof bySession>;

/** Signs a new person of the company in; its role may change dashboards. */
export async function signInEditor(system: WholeSystem, company: Company): Promise<SignedIn> {
  return bySession(system, await signIn(system, await system.createPerson(company, "member")));
}

/** A dashboard of the signed-in person with one widget. */
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
