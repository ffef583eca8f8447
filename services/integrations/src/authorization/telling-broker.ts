import type { Broker, BrokerTarget } from "./nango.ts";
import type { OperatorFaults } from "./operator-faults.ts";

/** A broker that logs faults of the operator (ADR 36). */
export function tellingBroker(broker: Broker, faults: OperatorFaults): Broker {
  const telling = async <T>({ integration }: BrokerTarget, answer: Promise<T>): Promise<T> => {
    try {
      return await answer;
    } catch (error) {
      faults.note(error, integration);
      throw error;
    }
  };
  return {
    createConnectLink: (target, attemptId) =>
      telling(target, broker.createConnectLink(target, attemptId)),
    findConnections: (target, attemptId) =>
      telling(target, broker.findConnections(target, attemptId)),
    async getAccount(target, connectionId, options) {
      const account = await telling(target, broker.getAccount(target, connectionId, options));
      // Only this question needs the whole configuration, so only its success ends a fault.
      faults.passed(target.integration);
      return account;
    },
    deleteConnection: (target, connectionId) =>
      telling(target, broker.deleteConnection(target, connectionId)),
  };
}
