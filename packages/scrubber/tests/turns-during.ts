/** How many turns of the event loop others have while something is done. */
export async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let over = false;
  const count = (): void => {
    turns += 1;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  await work();
  over = true;
  return turns;
}
