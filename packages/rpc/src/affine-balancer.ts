import { connectivityState as State, experimental } from "@grpc/grpc-js";
import { AffinePicker, Replica } from "./affine-picker.ts";
import type { ReadyReplica } from "./affine-picker.ts";

type Update = experimental.LoadBalancer["updateAddressList"];

/** The name of the policy in a service config. */
export const AFFINE_POLICY = "workflow_affine";

interface Member {
  readonly replica: Replica;
  readonly leaf: experimental.LeafLoadBalancer;
}

/**
 * Keeps a connection to each replica, as grpc-js's round_robin does, and picks by what a call is about. Members
 * outlive a look-up of their names, so that their calls in flight stay counted.
 */
class AffineBalancer implements experimental.LoadBalancer {
  readonly #channel: experimental.ChannelControlHelper;
  readonly #membersControl: experimental.ChannelControlHelper;
  readonly #members = new Map<string, Member>();
  #state: State = State.IDLE;
  #isUpdating = false;
  #lastError = "";
  #turn = Math.floor(Math.random() * 1_000);

  constructor(channel: experimental.ChannelControlHelper) {
    this.#channel = channel;
    this.#membersControl = experimental.createChildChannelControlHelper(channel, {
      updateState: (state, _picker, error) => {
        // A lost connection may mean that the replica is gone for good: the name is asked again.
        if (this.#state === State.READY && state !== State.READY) channel.requestReresolution();
        if (error !== null) this.#lastError = error;
        this.#report();
      },
    });
  }

  updateAddressList(...[endpoints, config, options, note]: Parameters<Update>): boolean {
    if (config.getLoadBalancerName() !== AFFINE_POLICY) return false;
    // The addresses of the last look-up stay while a name server fails.
    if (!endpoints.ok) {
      if (this.#members.size === 0) this.#fail(endpoints.error.details);
      return true;
    }
    this.#isUpdating = true;
    const named = new Map(
      endpoints.value.map((endpoint) => [experimental.endpointToString(endpoint), endpoint]),
    );
    for (const [name, { leaf }] of this.#members) {
      if (named.has(name)) continue;
      leaf.destroy();
      this.#members.delete(name);
    }
    for (const [name, endpoint] of named) {
      if (this.#members.has(name)) continue;
      const leaf = new experimental.LeafLoadBalancer(endpoint, this.#membersControl, options, note);
      this.#members.set(name, { replica: new Replica(name), leaf });
      leaf.startConnecting();
    }
    this.#isUpdating = false;
    if (named.size === 0) this.#lastError = `No addresses. ${note}`;
    this.#report();
    return named.size > 0;
  }

  exitIdle(): void {
    for (const { leaf } of this.#members.values()) leaf.exitIdle();
  }

  /** Each leaf waits by itself before it connects again, and grpc-js has no way to cut that short. */
  resetBackoff(): void {}

  destroy(): void {
    for (const { leaf } of this.#members.values()) leaf.destroy();
    this.#members.clear();
  }

  getTypeName(): string {
    return AFFINE_POLICY;
  }

  /** Tells the channel what the members are able to do together. */
  #report(): void {
    if (this.#isUpdating) return;
    const ready: ReadyReplica[] = [];
    let isConnecting = false;
    for (const { replica, leaf } of this.#members.values()) {
      const state = leaf.getConnectivityState();
      if (state === State.READY) ready.push({ replica, picker: leaf.getPicker() });
      if (state === State.IDLE || state === State.CONNECTING) isConnecting = true;
    }
    if (ready.length > 0) {
      this.#turn += 1;
      this.#show(State.READY, new AffinePicker(ready, this.#turn), null);
    } else if (isConnecting) {
      this.#show(State.CONNECTING, new experimental.QueuePicker(this), null);
    } else {
      this.#fail(this.#lastError);
    }
    // A server that stops leaves its connection idle; members are kept connected.
    for (const { leaf } of this.#members.values()) {
      if (leaf.getConnectivityState() === State.IDLE) leaf.exitIdle();
    }
  }

  #fail(reason: string): void {
    const details = `No replica is connected. ${reason}`;
    this.#show(State.TRANSIENT_FAILURE, new experimental.UnavailablePicker({ details }), details);
  }

  #show(state: State, picker: experimental.Picker, error: string | null): void {
    this.#state = state;
    this.#channel.updateState(state, picker, error);
  }
}

class AffineConfig implements experimental.TypedLoadBalancingConfig {
  getLoadBalancerName(): string {
    return AFFINE_POLICY;
  }

  toJsonObject(): object {
    return { [AFFINE_POLICY]: {} };
  }

  static createFromJson(): AffineConfig {
    return new AffineConfig();
  }
}

experimental.registerLoadBalancerType(AFFINE_POLICY, AffineBalancer, AffineConfig);
