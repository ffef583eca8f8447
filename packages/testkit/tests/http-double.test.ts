import { afterEach, describe, expect, it } from "@jest/globals";
import { startHttpDouble } from "@workflow/testkit";
import type { HttpDouble } from "@workflow/testkit";

let double: HttpDouble | undefined;

afterEach(async () => {
  await double?.close();
  double = undefined;
});

describe("startHttpDouble", () => {
  it("records what it was sent and answers what the handler returns", async () => {
    double = await startHttpDouble(({ body }) => ({ status: 201, body: { echo: body } }));
    const response = await fetch(`${double.url}/a?b=c`, { method: "POST", body: "höher" });
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({ echo: "höher" });
    expect(double.requests).toMatchObject([{ method: "POST", path: "/a?b=c", body: "höher" }]);
  });

  it("counts the requests of each Idempotency-Key", async () => {
    double = await startHttpDouble();
    for (const key of ["one", "two", "one"]) {
      await fetch(double.url, { method: "POST", headers: { "idempotency-key": key } });
    }
    await fetch(double.url);
    expect(double.countByKey("one")).toBe(2);
    expect(double.keyCounts()).toEqual(
      new Map([
        ["one", 2],
        ["two", 1],
      ]),
    );
  });

  it("breaks the connection when the handler fails", async () => {
    double = await startHttpDouble(() => {
      throw new Error("broken");
    });
    await expect(fetch(double.url)).rejects.toThrow("fetch failed");
  });

  it("closes although a caller still waits for its answer", async () => {
    double = await startHttpDouble(() => new Promise(() => {}));
    const waiting = fetch(double.url).catch((error: unknown) => error);
    await double.close();
    double = undefined;
    expect(await waiting).toMatchObject({ message: "fetch failed" });
  });
});
