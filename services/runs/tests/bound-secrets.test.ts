import { describe, expect, it } from "@jest/globals";
import { createSecretBonds } from "../src/secrets/bound-secrets.ts";

/*
 * Finds which of a run's bound secrets are in a text (D66). tests/e2e/bound-secrets tests that they go
 * nowhere else.
 */

const COUNT = 100;
const valueOf = (index: number) => `sk_live_${String(index).padStart(3, "0")}_hqlyjwdar`;
const hostOf = (index: number) => `h${index}.example`;
const bonds = createSecretBonds(
  new Map(
    Array.from({ length: COUNT }, (_, index) => [
      `KEY_${index}`,
      { value: valueOf(index), allowedHosts: [hostOf(index)] },
    ]),
  ),
);
const hostsIn = async (texts: readonly string[], read: readonly string[] = []) => {
  const grant = bonds.grant();
  for (const key of read) grant?.secrets.get(key);
  return (await grant?.guard.hostLimits(texts))?.flat().toSorted();
};

describe("bound secrets in a text", () => {
  it.each([[[]], [[0]], [[99]], [[0, 1, 50, 98]]])("are those and no others: %j", async (given) => {
    const plain = given.map(valueOf).join(" ");
    const encoded = given.map((index) => Buffer.from(valueOf(index)).toString("base64")).join();
    for (const text of [plain, encoded]) {
      expect(await hostsIn(["a text before", text])).toEqual(given.map(hostOf).toSorted());
      expect(await bonds.isBoundIn(["a text before", text])).toBe(given.length > 0);
    }
  });

  it("are all of them where all are in it", async () => {
    const all = Array.from({ length: COUNT }, (_, index) => index);
    expect(await hostsIn([all.map(valueOf).join()])).toEqual(all.map(hostOf).toSorted());
  });

  it("limit the hosts once where a template has read them too", async () => {
    expect(await hostsIn([`${valueOf(3)} ${valueOf(4)}`], ["KEY_3", "KEY_5"])).toEqual([
      "h3.example",
      "h4.example",
      "h5.example",
    ]);
  });

  it("are looked for while others have their turn, in a text of 1 MiB", async () => {
    const text = "words in between ".repeat(61_680);
    expect(await turnsDuring(() => bonds.isBoundIn([text]))).toBeGreaterThan(0);
    expect(await turnsDuring(() => hostsIn([text]))).toBeGreaterThan(0);
  });
});

/** How often other work had its turn during the given work. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    if (isOver) return;
    turns += 1;
    setImmediate(count);
  };
  setImmediate(count);
  await work();
  isOver = true;
  return turns;
}
