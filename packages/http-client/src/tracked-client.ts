import { Client } from "undici";
import type { Dispatcher, buildConnector } from "undici";

import { ExchangeHandler } from "./exchange.ts";
import type { Link } from "./exchange.ts";

/** undici's client with one connection at a time. Each exchange learns its connection. */
export class TrackedClient extends Client {
  readonly #link: Link;

  /** @param options with `pipelining` 0 the connection is closed after one request */
  constructor(
    origin: string | URL,
    connect: buildConnector.connector,
    options: Omit<Client.Options, "connect"> = {},
  ) {
    const link: Link = { socket: undefined, requests: 0 };
    super(origin, {
      ...options,
      connect: (target, callback) =>
        connect(target, (...result) => {
          const [, socket] = result;
          link.socket = socket ?? undefined;
          link.requests = 0;
          callback(...result);
        }),
    });
    this.#link = link;
  }

  override dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    if (handler instanceof ExchangeHandler) handler.useLink(this.#link);
    return super.dispatch(options, handler);
  }
}
