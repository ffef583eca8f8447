/**
 * URLs of hosts to which a secret is bound (`allowed`) and of other hosts (`refused`), in every spelling, and URLs with
 * a user name. `port` is that of the receiver on this machine.
 */
export function writtenUrls(port: number) {
  const allowed = [
    `http://127.0.0.1:${port}/exact`,
    `http://0x7f.1:${port}/hexadecimal`,
    `http://2130706433:${port}/number`,
    "https://api.allowed.invalid/",
    "https://API.Allowed.INVALID/",
    "https://api.allowed.invalid./",
    "https://api.allowed.invalid:8443/",
    "https://api.allowed.invalid\\@other.invalid/",
    "https://a.wild.invalid/",
    "https://a.b.wild.invalid./",
    "https://MÜNCHEN.invalid/",
    "https://xn--mnchen-3ya.invalid/",
    "https://ａｐｉ.allowed。invalid/",
    "http://[0:0:0:0:0:0:0:1]:1/",
  ];
  const refused = [
    `http://localhost:${port}/name`,
    `http://127.0.0.2:${port}/`,
    `http://[::ffff:127.0.0.1]:${port}/`,
    "http://127.0.0.1.other.invalid/",
    "https://allowed.invalid/",
    "https://api.allowed.invalid.other.invalid/",
    "https://xapi.allowed.invalid/",
    "https://wild.invalid/",
    "https://evilwild.invalid/",
    "https://wild.invalid.other.invalid/",
    "https://münchen.invalid.other.invalid/",
    "https://аpi.allowed.invalid/",
    "https://other.invalid/?api.allowed.invalid",
    "https://other.invalid/#api.allowed.invalid",
    "https://other.invalid\\@api.allowed.invalid/",
    "https://other.invalid:443/api.allowed.invalid",
    "http://[::2]:1/",
  ];
  const userInfo = ["https://api.allowed.invalid@other.invalid/", "https://a:b@127.0.0.1/"];
  return { allowed, refused, userInfo };
}
