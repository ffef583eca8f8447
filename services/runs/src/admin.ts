// What the admin command does with the runs service's tables.
export { listRetentionPolicies, setRetentionPolicy } from "./store/retention-policies.ts";
