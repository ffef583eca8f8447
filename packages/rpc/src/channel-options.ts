import type { ChannelOptions } from "@grpc/grpc-js";
import { AFFINE_POLICY } from "./affine-balancer.ts";
import type { AffineMethods } from "./affinity.ts";
import type { RpcClientOptions } from "./client-options.ts";
import { MESSAGE_BYTES_MAX } from "./message-size.ts";
import { renewingOptions } from "./renewing-resolver.ts";
import { serverNameOf } from "./tls.ts";

/**
 * Makes the options of a client's channel.
 *
 * @param affine the methods whose calls about one thing go to one replica; calls of the others go
 * to each in turn
 */
export function channelOptions(options: RpcClientOptions, affine: AffineMethods): ChannelOptions {
  const { tls, maxMessageBytes = MESSAGE_BYTES_MAX } = options;
  const serverName = serverNameOf(tls);
  return {
    ...renewingOptions(options.renewMs),
    "grpc.max_send_message_length": maxMessageBytes,
    "grpc.max_receive_message_length": maxMessageBytes,
    // A connection that was cut silently gets no more calls after these two.
    "grpc.keepalive_time_ms": 10_000,
    "grpc.keepalive_timeout_ms": 5_000,
    "grpc.initial_reconnect_backoff_ms": 50,
    "grpc.max_reconnect_backoff_ms": 1_000,
    // Repeats calls that were never sent, calls that a stopping server refused, and what the service config names.
    "grpc.enable_retries": 1,
    "grpc.enable_channelz": 0,
    // Internal calls never use the proxy that outside calls may need.
    "grpc.enable_http_proxy": 0,
    // A subchannel of its own, so that close() closes the connection.
    "grpc.use_local_subchannel_pool": 1,
    "grpc.service_config": JSON.stringify(serviceConfig([...affine.keys()])),
    "grpc.service_config_disable_resolution": 1,
    ...(serverName === undefined ? {} : { "grpc.ssl_target_name_override": serverName }),
  };
}

/** See https://github.com/grpc/grpc/blob/master/doc/service_config.md. */
function serviceConfig(affinePaths: readonly string[]): object {
  return {
    // Either policy spreads calls over the replicas of a list or behind a headless Kubernetes
    // service.
    loadBalancingConfig: [affinePaths.length === 0 ? { round_robin: {} } : { [AFFINE_POLICY]: {} }],
    // An outage of all replicas ends repetition after five calls; ten calls that succeed allow one more.
    // Clients of one address share the count, and one that did not name it would remove it.
    retryThrottling: { maxTokens: 10, tokenRatio: 0.1 },
    methodConfig: affinePaths.length === 0 ? [] : [repetitionOf(affinePaths)],
  };
}

/** Affine methods only read, so an attempt that a replica has seen may be repeated at the next one. */
function repetitionOf(paths: readonly string[]): object {
  return {
    name: paths.map((path) => {
      const [, service, method] = path.split("/");
      return { service, method };
    }),
    retryPolicy: {
      maxAttempts: 2,
      initialBackoff: "0.02s",
      maxBackoff: "0.02s",
      backoffMultiplier: 1,
      retryableStatusCodes: ["UNAVAILABLE"],
    },
  };
}
