import { describe, expect, it } from "@jest/globals";
import { gatherEvidence } from "./evidence.ts";
import { newCore } from "./finder.ts";

describe("evidence", () => {
  it("tells a leak, where it is and what stands around it", () => {
    const evidence = gatherEvidence();
    const core = newCore();
    evidence.hide({ name: "it", core });
    evidence.add("log", "a line", `{"password":"${core}"}`);
    evidence.add("log", "another line", "nothing");
    expect(evidence.search().leaks).toEqual([
      { canary: "it", place: "log", what: "a line", excerpt: `{"password":"${core}"}` },
    ]);
  });

  it("lets a value be seen where the contract shows it, and nowhere else", () => {
    const evidence = gatherEvidence();
    const core = newCore();
    evidence.hide({ name: "key", core, shownIn: /^REST answers: POST \/keys / });
    evidence.add("REST answers", "POST /keys 201", core);
    evidence.add("REST answers", "GET /keys 200", core);
    evidence.add("events", "POST /keys 201", core);
    const { leaks, shown } = evidence.search();
    expect([...shown]).toEqual(["key"]);
    expect(leaks.map(({ place, what }) => `${place}: ${what}`)).toEqual([
      "REST answers: GET /keys 200",
      "events: POST /keys 201",
    ]);
  });

  it("tells what is no secret and what was sent outside apart from leaks", () => {
    const evidence = gatherEvidence();
    const [control, core] = [newCore(), newCore()];
    evidence.control("note", control);
    evidence.hide({ name: "it", core });
    evidence.add("database", "a table", Buffer.from(control).toString("hex"));
    evidence.addSent("/somewhere", core);
    const { leaks, controls, used } = evidence.search();
    expect(leaks).toEqual([]);
    expect([...(controls.get("database") ?? [])]).toEqual(["note"]);
    expect([...used]).toEqual(["it"]);
  });
});
