/** A value that callers send only in bad faith, or by mistake. */
export interface HostileValue {
  /** The fault of the value, for messages. */
  what: string;
  /** The value as JSON text, since JSON.stringify cannot write all of them. */
  json: string;
  /** Whether the service refuses the whole body before it reads the field. */
  ofBody?: true;
}

/** Texts that harm programs which read more than text into them. */
const TEXTS: Readonly<Record<string, string>> = {
  empty: "",
  "right to left, zero width, joined": "\u202egpj.exe\u200b\u2066\ufeff👩\u200d👩\u200d👧 e\u0301",
  SQL: "'; drop table workflows; select pg_sleep(9); --",
  HTML: `"><script src=//evil.example></script><img src=x onerror=alert(1)>`,
  "a template": "{{secrets.TOKEN}} {{7*7}} ${7*7} <%= 7*7 %> #{7*7}",
  "a path": "../../../../etc/passwd",
  "line breaks and a header": "a\r\nx-injected: yes\r\n\r\n",
  "name of a property of objects": "__proto__",
  "no id": "no-id-at-all",
  "id of nothing": "0197f2a0-5a5a-7a5a-8a5a-5a5a5a5a5a99",
  "300 characters": "x".repeat(300),
  "70,000 characters": "x".repeat(70_000),
};

/** Values for any place of a body. */
export const HOSTILE_VALUES: readonly HostileValue[] = [
  ...["null", "true", "-1", "0.5", "-0", "[]", "{}", "[null]"].map((json) => ({
    what: json,
    json,
  })),
  { what: "a number beyond doubles", json: "1e999" },
  { what: "2^53 + 1", json: "9007199254740993" },
  ...Object.entries(TEXTS).map(([what, text]) => ({ what, json: JSON.stringify(text) })),
  { what: "NUL", json: String.raw`"a\u0000b"` },
  { what: "a lone surrogate", json: String.raw`"\ud800"` },
  { what: "__proto__ as a member", json: '{"__proto__":{"polluted":true}}' },
  { what: "constructor as a member", json: '{"constructor":{"prototype":{"polluted":true}}}' },
  { what: "65 levels", json: "[".repeat(65) + "]".repeat(65), ofBody: true },
  { what: "100,000 elements", json: `[${"0,".repeat(99_999)}0]` },
];

/** Texts for a query string, in the form that follows `name`. */
export const HOSTILE_QUERIES: Readonly<Record<string, (name: string) => string>> = {
  "no value": (name) => name,
  empty: (name) => `${name}=`,
  NUL: (name) => `${name}=a%00b`,
  "a half percent code": (name) => `${name}=%`,
  "no UTF-8": (name) => `${name}=%ff%fe`,
  "a lone surrogate": (name) => `${name}=%ED%A0%80`,
  repeated: (name) => `${name}=1&${name}=2`,
  "a list": (name) => `${name}[]=1`,
  "a member": (name) => `${name}[__proto__][polluted]=true`,
  "minus one": (name) => `${name}=-1`,
  "a fraction": (name) => `${name}=1.5`,
  "a number beyond doubles": (name) => `${name}=1e999`,
  "2^53 + 1": (name) => `${name}=9007199254740993`,
  "a time of the year 0": (name) => `${name}=0000-12-31T23:59:59Z`,
  "a time of the year 10000": (name) => `${name}=9999-12-31T23:59:59-12:00`,
  "5,000 characters": (name) => `${name}=${"x".repeat(5_000)}`,
  "40,000 characters": (name) => `${name}=${"x".repeat(40_000)}`,
  "an object": (name) => `${name}=${encodeURIComponent('{"__proto__":{"polluted":true}}')}`,
  ...Object.fromEntries(
    ["right to left, zero width, joined", "SQL", "HTML", "a template", "a path", "no id"].map(
      (what) => [what, (name: string) => `${name}=${encodeURIComponent(TEXTS[what] ?? "")}`],
    ),
  ),
};

/** Bodies that are no JSON object. */
export const NO_OBJECTS: Readonly<Record<string, string>> = {
  "the beginning of an object": '{"name":',
  "an object and more": "{}{}",
  "a list": "[]",
  "a text": '"x"',
  "a number": "7",
  null: "null",
  "a byte order mark": "\ufeff",
};

/** Values of headers. */
export const HOSTILE_HEADERS: Readonly<Record<string, string>> = {
  empty: "",
  "a list": "a, b",
  "an open quotation": '"a',
  "bytes beyond ASCII": "\u00e9\u00ff",
  "a tab": "a\tb",
  "name of a property of objects": "__proto__",
  "300 characters": "x".repeat(300),
  "4,000 characters": "x".repeat(4_000),
};

/** Texts for a segment of a path, in the form that they have there. */
export const HOSTILE_SEGMENTS: Readonly<Record<string, string>> = {
  NUL: "a%00b",
  "a half percent code": "%",
  "no UTF-8": "%ff",
  "a slash": "a%2f..%2f..%2fadmin",
  "5,000 characters": "x".repeat(5_000),
  ...Object.fromEntries(
    [
      "right to left, zero width, joined",
      "SQL",
      "HTML",
      "no id",
      "name of a property of objects",
    ].map((what) => [what, encodeURIComponent(TEXTS[what] ?? "")]),
  ),
};
