import { X509Certificate } from "node:crypto";
import { readCertificates } from "./read-certificates.ts";
import type { CertificateFiles, Certificates } from "./read-certificates.ts";

/** The callbacks of a follower of the files. */
export interface RenewalReport {
  /** Called when new certificates are in use. */
  onRenewed(): void;
  /** Called when the files have become unusable, once for each reason. */
  onTrouble(reason: string): void;
}

/**
 * The interval of reading the files. The files are small, and a renewal may replace a link of a link, which a
 * watch would miss.
 */
const POLL_MS = 10_000;

/**
 * Certificates of files that are renewed. New connections use the last complete certificates. Half-written
 * files change nothing, nor does a key that does not belong to the certificate.
 */
export class RenewedCertificates {
  readonly #files: CertificateFiles;
  readonly #listeners = new Set<(certificates: Certificates) => void>();
  #current: Certificates;
  #trouble: string | null = null;

  /** @param first the current certificates of the files */
  constructor(files: CertificateFiles, first: Certificates) {
    this.#files = files;
    this.#current = first;
  }

  /** The certificates of new connections. */
  current(): Certificates {
    return this.#current;
  }

  /** The reason why the files are unusable now; null when they are usable. */
  trouble(): string | null {
    return this.#trouble;
  }

  /** The end of the own certificate, in milliseconds since the epoch; null without one. */
  expiresAt(): number | null {
    const { cert } = this.#current;
    return cert === undefined ? null : new X509Certificate(cert).validToDate.getTime();
  }

  /** Calls a listener for each renewal, until the returned function is called. */
  onRenewal(listener: (certificates: Certificates) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Reads the files again and again, until the returned function is called. */
  follow(report: RenewalReport, everyMs = POLL_MS): () => void {
    let isLooking = false;
    const timer = setInterval(() => {
      if (isLooking) return;
      isLooking = true;
      void this.#look(report).finally(() => (isLooking = false));
    }, everyMs).unref();
    return () => clearInterval(timer);
  }

  async #look(report: RenewalReport): Promise<void> {
    try {
      const read = await readCertificates(this.#files);
      this.#trouble = null;
      if (read === null || isSame(read, this.#current)) return;
      this.#current = read;
      for (const listener of this.#listeners) listener(read);
      report.onRenewed();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== this.#trouble) report.onTrouble(reason);
      this.#trouble = reason;
    }
  }
}

function isSame(one: Certificates, other: Certificates): boolean {
  const parts = ["cert", "key", "ca"] as const;
  return parts.every((part) => one[part]?.toString() === other[part]?.toString());
}
