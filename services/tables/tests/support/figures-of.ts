import type { Registry } from "prom-client";

/** Every series of a registry whose name begins like this, by its name and labels. */
export async function figuresOf(
  registry: Registry,
  prefix: string,
): Promise<Record<string, number>> {
  const lines = (await registry.metrics()).split("\n");
  const series = lines.filter((line) => line.startsWith(prefix));
  return Object.fromEntries(
    series.map((line) => {
      const end = line.lastIndexOf(" ");
      return [line.slice(0, end), Number(line.slice(end))];
    }),
  );
}
