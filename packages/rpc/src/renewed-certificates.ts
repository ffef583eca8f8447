import { X509Certificate } from "node:crypto";
import { readCertificates } from "./read-certificates.ts";
import type { CertificateFiles, Certificates } from "./read-certificates.ts";

/** The listener of a process that follows the files. */
export interface RenewalReport {
  /** New certificates are in use from now on. */
  onRenewed(): void;
  /** The files have changed to something that cannot be used; said once for each reason. */
  onTrouble(reason: string): void;
}

/** How often the files are read: they are small, and what replaces them may be a link of a link. */
const LOOK_MS = 10_000;

/**
 * Certificates of files that somebody renews. New connections have the certificates that were last
 * read whole. Files that are half written change nothing, nor does a key that does not belong to
 * its certificate.
 */
export class RenewedCertificates {
  readonly #files: CertificateFiles;
  readonly #listeners = new Set<(certificates: Certificates) => void>();
  #current: Certificates;
  #trouble: string | null = null;

  /** @param first what the files hold now */
  constructor(files: CertificateFiles, first: Certificates) {
    this.#files = files;
    this.#current = first;
  }

  /** The certificates of new connections. */
  current(): Certificates {
    return this.#current;
  }

  /** Why the files cannot be used as they are now; null when they can. */
  trouble(): string | null {
    return this.#trouble;
  }

  /** When the own certificate ends, in milliseconds since the epoch; null without one. */
  expiresAt(): number | null {
    const { cert } = this.#current;
    return cert === undefined ? null : new X509Certificate(cert).validToDate.getTime();
  }

  /** Calls for each renewal, until the function that it returns is called. */
  onRenewal(listener: (certificates: Certificates) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Reads the files again and again until the function that it returns is called. */
  follow(report: RenewalReport, everyMs = LOOK_MS): () => void {
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
