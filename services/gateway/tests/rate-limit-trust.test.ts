import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { Trust } from "../src/rate-limits/trust.ts";

/** What one gateway thinks of another, which answers after so many milliseconds, or never. */
function createTrust() {
  const other = {
    answersAfterMs: 1 as number | null,
    probedAt: [] as number[],
    told: [] as boolean[],
  };
  const trust: Trust = new Trust({
    now: () => Date.now(),
    tell: () => void other.told.push(trust.isSuspected("other")),
    async probe(_, patienceMs) {
      other.probedAt.push(Date.now());
      const { answersAfterMs } = other;
      const isPatient = answersAfterMs !== null && answersAfterMs <= patienceMs;
      await new Promise((resolve) => setTimeout(resolve, isPatient ? answersAfterMs : patienceMs));
      return isPatient;
    },
  });
  return { trust, other };
}

async function createTrustOfOne() {
  const created = createTrust();
  created.trust.meet("other");
  created.trust.hear("other", false);
  const probed = created.trust.probe("other");
  await jest.advanceTimersByTimeAsync(1);
  await probed;
  created.other.probedAt.length = 0;
  return created;
}

describe("a gateway's trust in another", () => {
  beforeEach(() => void jest.useFakeTimers({ now: 0 }));
  afterEach(() => void jest.useRealTimers());

  it("begins with a probe that was answered", async () => {
    const { trust, other } = createTrust();
    trust.meet("other");
    expect(trust.isSuspected("other")).toBe(true);
    expect(trust.isDoubtedBy("other")).toBe(true);
    trust.hear("other", false);
    const probed = trust.probe("other");
    await jest.advanceTimersByTimeAsync(1);
    await probed;
    expect(trust.isSuspected("other")).toBe(false);
    expect(trust.isDoubtedBy("other")).toBe(false);
    expect(other.told).toEqual([true, false]);
  });

  it("comes back by a probe that is answered in time, and probes become rarer", async () => {
    const { trust, other } = await createTrustOfOne();
    const start = Date.now();
    other.answersAfterMs = 251;
    trust.suspect("other");
    await jest.advanceTimersByTimeAsync(50_000);
    // The first one asks whether it has heard of it; each wait begins when the probe before was in vain.
    expect(other.probedAt.map((at) => Math.round((at - start) / 1_000))).toEqual([
      0, 1, 3, 8, 16, 32, 48,
    ]);
    expect(trust.isSuspected("other")).toBe(true);
    other.answersAfterMs = 250;
    await jest.advanceTimersByTimeAsync(17_000);
    expect(trust.isSuspected("other")).toBe(false);
  });

  it("is asked for as rarely as before by who was suspected a short while ago", async () => {
    const { trust, other } = await createTrustOfOne();
    for (let time = 0; time < 2; time += 1) {
      // Slow for once: it answers the first probe.
      trust.suspect("other");
      expect(trust.isSuspected("other")).toBe(true);
      await jest.advanceTimersByTimeAsync(1);
      expect(trust.isSuspected("other")).toBe(false);
    }
    for (const waitMs of [4_000, 8_000, 16_000, 16_000]) {
      trust.suspect("other");
      await jest.advanceTimersByTimeAsync(waitMs - 1);
      expect(trust.isSuspected("other")).toBe(true);
      await jest.advanceTimersByTimeAsync(10);
      expect(trust.isSuspected("other")).toBe(false);
    }
    await jest.advanceTimersByTimeAsync(61_000);
    trust.suspect("other");
    await jest.advanceTimersByTimeAsync(1);
    expect(trust.isSuspected("other")).toBe(false);
    expect(other.told.at(-1)).toBe(false);
  });

  it("leaves open who decides until the other one has heard of a suspicion, or could have", async () => {
    const { trust, other } = await createTrustOfOne();
    other.answersAfterMs = 270;
    trust.suspect("other");
    expect(trust.meeting("other")).not.toBeNull();
    await jest.advanceTimersByTimeAsync(269);
    expect(trust.meeting("other")).not.toBeNull();
    await jest.advanceTimersByTimeAsync(1);
    expect(trust.meeting("other")).toBeNull();
    expect(trust.isSuspected("other")).toBe(true);
  });

  it("does not take for granted what a suspect thought before this gateway stood still", async () => {
    const { trust } = await createTrustOfOne();
    trust.standStill();
    expect(trust.isDoubtedBy("other")).toBe(false);
    trust.suspect("other");
    trust.standStill();
    expect(trust.isDoubtedBy("other")).toBe(true);
    expect(trust.isUnheard("other")).toBe(true);
    trust.hear("other", false);
    expect(trust.isDoubtedBy("other")).toBe(false);
    expect(trust.isUnheard("other")).toBe(false);
    trust.end();
    await jest.advanceTimersByTimeAsync(1_000);
  });
});
