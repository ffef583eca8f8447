import { expect } from "@jest/globals";
import { callApi } from "../../support/api-client.ts";
import { addMember, changeCompany, newMemberOfBoth, newToken } from "../../support/memberships.ts";
import { bySession, signIn, trySignIn } from "../../support/people.ts";
import type { WholeSystem } from "../../support/whole-system.ts";
import type { Hide } from "../hide.ts";

/** Signs people in and keeps others out, by every kind of credentials that there is. */
export async function tourPeople(client: WholeSystem, hide: Hide): Promise<void> {
  const { acme, globex } = client;
  const person = await newMemberOfBoth(client);
  const token = await signIn(client, person);
  const moved = newToken(await changeCompany(client, token, { company: globex.id }));
  await client.call("GET", "/auth/session", bySession(client, moved));
  await client.call("GET", "/workflows", bySession(client, moved));
  const newPassword = hide("new password of a person");
  const change = (body: object) =>
    client.call("POST", "/auth/password", { ...bySession(client, moved), body });
  expect((await change({ currentPassword: hide("wrong password"), newPassword })).status).toBe(400);
  const short = { currentPassword: person.password, newPassword: 7 };
  expect((await change(short)).status).toBe(400);
  const changed = await change({ currentPassword: person.password, newPassword });
  expect(changed.error).toBeUndefined();
  const { email } = person;
  for (const password of [hide("password of a failed sign-in"), newPassword]) {
    await trySignIn(client, { email, password });
  }
  await trySignIn(client, { email: hide("password in place of the address"), password: 7 });
  const invited = { email: "new@acme.example", password: hide("first password of a member") };
  expect((await addMember(client, acme, invited)).error).toBeUndefined();
  expect((await addMember(client, acme, invited)).status).toBe(409);
  await client.call("DELETE", "/auth/session", bySession(client, moved));

  const refused = async (headers: Record<string, string>): Promise<void> => {
    const answer = await callApi(`${client.origin}/api/v1/workflows`, "GET", { headers });
    expect(answer.status).toBe(401);
  };
  await refused({ "x-api-key": `wfk_${hide("API key that nobody has")}` });
  await refused({ cookie: `wfs_session=${hide("session that nobody has")}` });
  await refused({ authorization: `Bearer ${hide("bearer token for REST")}` });
  // What people paste into the wrong place.
  const query = `?apiKey=${hide("key in a query")}`;
  await client.call("GET", `/workflows${query}`);
  await client.call("GET", `/${hide("key in a path")}`);
}
