// What the admin command does with the runs service's tables.
export { POOL_NAME } from "./domain/worker-pool.ts";
export { listPoolRules, measurePools, removePoolRule, setPoolRule } from "./store/worker-pools.ts";
export { listRetentionPolicies, setRetentionPolicy } from "./store/retention-policies.ts";
