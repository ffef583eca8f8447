import { rootCertificates } from "node:tls";
import type { experimental } from "@grpc/grpc-js";
import type { Certificates } from "./read-certificates.ts";
import type { RenewedCertificates } from "./renewed-certificates.ts";

/** Provides certificates to grpc-js, now and whenever they are renewed. */
export function grpcCertificateProvider(
  renewed: RenewedCertificates,
): experimental.CertificateProvider {
  const authorities = new Listeners(renewed, ({ ca }) => ({
    caCertificate: ca ?? Buffer.from(rootCertificates.join("\n")),
  }));
  const identities = new Listeners(renewed, ({ cert, key }) =>
    cert === undefined || key === undefined ? null : { certificate: cert, privateKey: key },
  );
  return {
    addCaCertificateListener: (listener) => authorities.add(listener),
    removeCaCertificateListener: (listener) => authorities.remove(listener),
    addIdentityCertificateListener: (listener) => identities.add(listener),
    removeIdentityCertificateListener: (listener) => identities.remove(listener),
  };
}

/** The listeners for one half of the certificates. */
class Listeners<Update> {
  readonly #renewed: RenewedCertificates;
  readonly #toUpdate: (certificates: Certificates) => Update;
  readonly #stops = new Map<(update: Update) => void, () => void>();

  constructor(renewed: RenewedCertificates, toUpdate: (certificates: Certificates) => Update) {
    this.#renewed = renewed;
    this.#toUpdate = toUpdate;
  }

  add(listener: (update: Update) => void): void {
    const tell = (certificates: Certificates): void => listener(this.#toUpdate(certificates));
    this.#stops.set(listener, this.#renewed.onRenewal(tell));
    // The call is asynchronous: a caller adds its listener before it can take the first call.
    process.nextTick(() => {
      if (this.#stops.has(listener)) tell(this.#renewed.current());
    });
  }

  remove(listener: (update: Update) => void): void {
    this.#stops.get(listener)?.();
    this.#stops.delete(listener);
  }
}
