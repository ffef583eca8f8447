import { createSign, generateKeyPairSync, randomBytes } from "node:crypto";
import type { KeyObject } from "node:crypto";

/** A certificate and its key, PEM. */
export interface TestCertificate {
  cert: Buffer;
  key: Buffer;
}

/** Creates an authority that issues certificates for `localhost`. */
export function createAuthority() {
  const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = "test authority";
  return {
    ca: toPem(
      sign(
        { subject: name, issuer: name, publicKey: keys.publicKey, isAuthority: true },
        keys.privateKey,
      ),
    ),
    issue(): TestCertificate {
      const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
      return {
        cert: toPem(
          sign(
            { subject: "localhost", issuer: name, publicKey: own.publicKey, isAuthority: false },
            keys.privateKey,
          ),
        ),
        key: Buffer.from(own.privateKey.export({ format: "pem", type: "pkcs8" })),
      };
    },
  };
}

interface Unsigned {
  subject: string;
  issuer: string;
  publicKey: KeyObject;
  isAuthority: boolean;
}

/** Signs an X.509 v3 certificate (RFC 5280) with the parts that a TLS handshake in a test needs. */
function sign({ subject, issuer, publicKey, isAuthority }: Unsigned, signer: KeyObject): Buffer {
  const ecdsaWithSha256 = sequence(Buffer.from("06082a8648ce3d040302", "hex"));
  const extensions = isAuthority
    ? extension("551d13", sequence(der(0x01, Buffer.of(0xff))))
    : extension("551d11", sequence(der(0x82, Buffer.from(subject))));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    ecdsaWithSha256,
    commonName(issuer),
    sequence(utcTime(Date.now() - 3_600_000), utcTime(Date.now() + 3_600_000)),
    commonName(subject),
    publicKey.export({ format: "der", type: "spki" }),
    der(0xa3, sequence(extensions)),
  );
  const signature = createSign("sha256").update(body).sign(signer);
  return sequence(body, ecdsaWithSha256, der(0x03, Buffer.concat([Buffer.of(0), signature])));
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function commonName(name: string): Buffer {
  const attribute = sequence(Buffer.from("0603550403", "hex"), der(0x0c, Buffer.from(name)));
  return sequence(der(0x31, attribute));
}

function extension(oid: string, value: Buffer): Buffer {
  return sequence(der(0x06, Buffer.from(oid, "hex")), der(0x04, value));
}

function utcTime(ms: number): Buffer {
  const text = new Date(ms)
    .toISOString()
    .replaceAll(/[-:T]|\.\d+/g, "")
    .slice(2);
  return der(0x17, Buffer.from(text));
}

function toPem(certificate: Buffer): Buffer {
  const lines = certificate.toString("base64").replaceAll(/.{64}/g, "$&\n");
  return Buffer.from(`-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`);
}
