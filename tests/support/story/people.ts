import { createUser } from "@workflow/service-gateway/admin";
import { z } from "zod";
import { bySession, signIn } from "../people.ts";
import type { Storyteller } from "./storyteller.ts";

const member = z.looseObject({ userId: z.string() });
const ADA = { email: "ada@example.com", password: "correct horse battery staple" };
const NEW_PASSWORD = "another horse and its battery";

/** The options of a request in the name of a signed-in person. */
export type Headers = Readonly<Record<string, string>>;

/** Ada becomes a member and signs in; returns the headers of her requests. */
export async function tellOfPeople(story: Storyteller): Promise<Headers> {
  const { system } = story;
  const made = await story.tell("addMember", {
    body: { email: ADA.email, password: ADA.password, name: "Ada Lovelace", role: "viewer" },
  });
  const { userId } = member.parse(made);
  await story.tell("changeRole", { params: { userId }, body: { role: "member" } });
  await story.tell("listMembers");
  await story.tell("createSession", { body: ADA, headers: {} });
  const first = bySession(system, await signIn(system, ADA)).headers;
  await story.tell("getSession", { headers: first });
  await story.tell("changePassword", {
    headers: first,
    body: { currentPassword: ADA.password, newPassword: NEW_PASSWORD },
  });
  const person = { email: ADA.email, password: NEW_PASSWORD };
  return bySession(system, await signIn(system, person)).headers;
}

/** Ada makes keys, looks into another company of hers, signs out, and leaves. */
export async function tellOfKeys(story: Storyteller, headers: Headers): Promise<void> {
  const { system } = story;
  const key = { name: "Nightly import", scopes: ["workflows:execute", "runs:read"] };
  const keyId = await story.make("createApiKey", { body: key });
  await story.tell("listApiKeys");
  await story.tell("revokeApiKey", { params: { keyId } });
  const { userId } = await createUser(system.database, {
    companyId: system.globex.id,
    email: ADA.email,
    password: NEW_PASSWORD,
    role: "member",
  });
  await story.tell("changeCompany", { headers, body: { company: system.globex.id } });
  const back = bySession(
    system,
    await signIn(system, { email: ADA.email, password: NEW_PASSWORD }, system.acme.id),
  ).headers;
  await story.tell("deleteSession", { headers: back });
  await story.tell("revokeApiKeys", { query: { createdBy: userId } });
  await story.tell("removeMember", { params: { userId }, query: { revokeKeys: "true" } });
}
