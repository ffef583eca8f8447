import { expect, it } from "@jest/globals";
import { waitFor } from "@workflow/testkit";
import { SharedAsks } from "../src/authorization/shared-asks.ts";

/** Questions that wait for the test to answer them. */
function createQuestions() {
  const open: PromiseWithResolvers<string>[] = [];
  const question = () => {
    const answer = Promise.withResolvers<string>();
    open.push(answer);
    return answer.promise;
  };
  /** The question of this number, once it was asked; counted from 0. */
  const asked = (place: number) => waitFor(() => open[place] ?? null);
  return { open, question, asked };
}

it("who comes during a question shares the one after it; one is asked at a time", async () => {
  const asks = new SharedAsks<string>(1);
  const { open, question, asked } = createQuestions();
  const first = asks.ask("a", question);
  const firstAsked = await asked(0);
  const late = Array.from({ length: 1_000 }, () => asks.ask("a", question));
  expect(open).toHaveLength(1);
  firstAsked.resolve("not yet");
  expect(await first).toBe("not yet");
  (await asked(1)).resolve("it is there");
  expect(new Set(await Promise.all(late))).toEqual(new Set(["it is there"]));
  expect(open).toHaveLength(2);
});

it("a pause lies between the end of one question and the next, for each thing on its own", async () => {
  // So long that the second question is surely not asked while this runs.
  const asks = new SharedAsks<string>(3_600_000);
  const { open, question, asked } = createQuestions();
  const first = asks.ask("a", question);
  (await asked(0)).resolve("yes");
  expect(await first).toBe("yes");
  void asks.ask("a", question);
  const other = asks.ask("b", question);
  (await asked(1)).resolve("other");
  expect(await other).toBe("other");
  expect(open).toHaveLength(2);
});

it("a question that fails is told to those who share it, and the next is asked", async () => {
  const asks = new SharedAsks<string>(1);
  const { question, asked } = createQuestions();
  const first = Promise.allSettled([asks.ask("a", question), asks.ask("a", question)]);
  (await asked(0)).reject(new Error("no answer"));
  expect((await first).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  const second = asks.ask("a", question);
  (await asked(1)).resolve("yes");
  expect(await second).toBe("yes");
});
