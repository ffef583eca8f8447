import { describe, expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";

describe("waitFor", () => {
  it("returns the first result that is neither false, null, 0 nor an empty text", async () => {
    const results = [false, null, 0, "", "there"];
    await expect(waitFor(() => results.shift() ?? null, { intervalMs: 1 })).resolves.toBe("there");
  });

  it("is done when a function without a result no longer throws", async () => {
    let calls = 0;
    await waitFor(() => {
      calls += 1;
      expect(calls).toBe(3);
    });
    expect(calls).toBe(3);
  });

  it("tells at the deadline what it waited for and why that did not come", async () => {
    const cause = new Error("not yet");
    const failure = waitFor(() => Promise.reject(cause), {
      timeoutMs: 5,
      intervalMs: 1,
      what: "the train",
    });
    await expect(failure).rejects.toMatchObject({
      message: "Waited 5 ms in vain for: the train\nLast: not yet",
      cause,
    });
  });
});
