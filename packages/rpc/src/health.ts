import type { Server } from "@grpc/grpc-js";
import { HealthImplementation } from "grpc-health-check";

/** The standard health service of a server: the whole ("") and each of its services. */
export interface Health {
  setServing(isServing: boolean): void;
}

/** Adds grpc.health.v1 to a server. The service reports NOT_SERVING until `setServing(true)`. */
export function addHealth(server: Server, services: readonly string[]): Health {
  const names = ["", ...services];
  const health = new HealthImplementation(
    Object.fromEntries(names.map((name) => [name, "NOT_SERVING"] as const)),
  );
  health.addToServer(server);
  return {
    setServing(isServing) {
      for (const name of names) health.setStatus(name, isServing ? "SERVING" : "NOT_SERVING");
    },
  };
}
