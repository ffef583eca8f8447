import { createScope } from "@workflow/async";
import type { Scope } from "@workflow/async";
import { SCENARIOS } from "./all-scenarios.ts";
import { startLoad } from "./load-client.ts";
import type { Options, Sizes } from "./options.ts";
import type { Measured } from "./report.ts";
import { openRunsLog } from "./runs-log.ts";
import type { System } from "./system.ts";

/** Measures the chosen scenarios one after the other. */
export async function measureScenarios(
  scope: Scope,
  system: System,
  { only, sizes }: { only: Options["only"]; sizes: Sizes },
): Promise<Measured[]> {
  const load = startLoad(scope);
  const runs = await openRunsLog(scope, system.databaseUrl);
  const measured: Measured[] = [];
  for (const scenario of SCENARIOS) {
    if (only !== null && !only.has(scenario.id)) continue;
    console.log(`Measuring ${scenario.id}: ${scenario.title}`);
    await using scenarioScope = createScope();
    const outcome = await scenario.measure({ system, load, runs, sizes, scope: scenarioScope });
    measured.push({ scenario, outcome });
  }
  return measured;
}
