// The parts of the runs service that the admin command uses.
export { POOL_NAME } from "./domain/worker-pool.ts";
export { listPoolRules, measurePools, removePoolRule, setPoolRule } from "./store/worker-pools.ts";
export { listRetentionPolicies, setRetentionPolicy } from "./store/retention-policies.ts";
