import { z } from "zod";
import { choice, flag, json, list, number, text } from "../action-input.ts";
import type { ActionInput, InputTraits } from "../action-input.ts";
import type { BlockSource } from "./block.ts";

const TIME = z.union([z.string(), z.number()]);
const UNITS = ["milliseconds", "seconds", "minutes", "hours", "days", "weeks", "months", "years"];
const ANY = z.unknown();

/** A point in time, which may be given as a text or as milliseconds. */
function time(key: string): ActionInput {
  const description = "An ISO timestamp, or a number of milliseconds since 1970";
  return { ...text(key, { required: true, description }), schema: TIME };
}

function longText(key: string, traits: InputTraits): ActionInput {
  return text(key, { control: "long-input", ...traits });
}

const http: BlockSource = {
  type: "http",
  name: "HTTP",
  description: "Sends HTTP requests to public hosts.",
  kind: "core",
  category: "network",
  actions: [
    {
      name: "request",
      title: "HTTP request",
      inputs: [
        choice("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"], {
          required: true,
        }),
        text("url", {
          title: "URL",
          required: true,
          description: "An absolute http or https URL",
        }),
        json("headers", { description: "Headers by name", control: "table" }),
        json("query", {
          description: "Query parameters by name, several values as an array",
          control: "table",
        }),
        json("body", {
          schema: ANY,
          description: "Any JSON value; a string is sent as it is, all else as JSON",
        }),
        json("auth", {
          title: "Authentication",
          schema: z.looseObject({ type: z.enum(["none", "bearer", "basic", "connection"]) }),
          description:
            "How the request says who sends it; none where it is not given. A connection signs requests to its provider's hosts only, and an answer of 401 changes nothing about the connection: the provider's actions and POST /connections/{id}/verify find out whether its credentials are good",
        }),
        number("timeoutMs", {
          title: "Timeout",
          schema: z.int().min(1).max(600_000),
          description: "The time for the answer in milliseconds; 30000 by default",
        }),
        list("successStatuses", {
          of: z.union([z.int().min(100).max(599), z.enum(["1xx", "2xx", "3xx", "4xx", "5xx"])]),
          min: 1,
          description: "Statuses that count as success; 2xx by default",
        }),
        number("followRedirects", {
          schema: z.int().min(0).max(10),
          description: "The most redirects to follow; 0 by default",
        }),
      ],
      outputs: ["status", "headers", "body"],
    },
  ],
};

const tableId = text("tableId", { title: "Table", required: true, description: "Id of the table" });
const rowId = text("rowId", { title: "Row", required: true, description: "Id of the row" });
const data = json("data", { required: true, description: "The row's values by column id" });
const ROW = ["id", "data", "position", "createdAt", "updatedAt"];

const table: BlockSource = {
  type: "table",
  name: "Data table",
  description: "Reads and changes rows of the company's data tables.",
  kind: "core",
  category: "data",
  actions: [
    {
      name: "query",
      title: "Query rows",
      inputs: [
        tableId,
        json("filter", {
          description: "Conditions by column id, as in the query of a table's rows",
        }),
        text("sort", { description: "Id of the column to sort by" }),
        choice("order", ["asc", "desc"], {
          description: "The direction of the sort; asc by default",
        }),
        number("limit", {
          schema: z.int().min(1).max(100),
          description: "Rows to return; 50 where none is given",
        }),
        number("offset", { schema: z.int().min(0), description: "Rows to pass over" }),
      ],
      outputs: ["rows", "total", "hasMore"],
    },
    { name: "insert", title: "Insert a row", inputs: [tableId, data], outputs: ROW },
    {
      name: "update",
      title: "Update a row",
      inputs: [
        tableId,
        rowId,
        data,
        flag("merge", {
          description:
            "Whether values that data does not name are kept; otherwise they are removed",
        }),
      ],
      outputs: ROW,
    },
    { name: "delete", title: "Delete a row", inputs: [tableId, rowId], outputs: ["deleted"] },
  ],
};

const jsonBlock: BlockSource = {
  type: "json",
  name: "JSON",
  description: "Reads and writes JSON texts.",
  kind: "core",
  category: "data",
  actions: [
    {
      name: "parse",
      title: "Parse JSON",
      inputs: [longText("text", { required: true, description: "The JSON text" })],
      outputs: ["value"],
    },
    {
      name: "stringify",
      title: "Write JSON",
      inputs: [
        json("value", { schema: ANY, required: true, description: "The value to write" }),
        number("indent", {
          schema: z.int().min(0).max(10),
          description: "The spaces that indent each level; none by default",
        }),
      ],
      outputs: ["text"],
    },
  ],
};

const textBlock: BlockSource = {
  type: "text",
  name: "Text",
  description: "Fills in texts.",
  kind: "core",
  category: "data",
  actions: [
    {
      name: "template",
      title: "Fill in a text",
      inputs: [
        longText("template", { required: true, description: "The text with placeholders" }),
        json("values", { description: "What placeholders stand for, by name" }),
      ],
      outputs: ["text"],
    },
  ],
};

const unit = choice("unit", UNITS, { required: true, description: "The unit of time" });

const datetime: BlockSource = {
  type: "datetime",
  name: "Date and time",
  description: "Formats points in time and computes with them.",
  kind: "core",
  category: "data",
  actions: [
    {
      name: "format",
      title: "Format a time",
      inputs: [
        time("value"),
        text("format", {
          required: true,
          schema: z.string().min(1).max(1_000),
          description: "Luxon tokens, such as yyyy-MM-dd HH:mm",
        }),
        text("timezone", {
          title: "Time zone",
          description: "IANA time zone; UTC where none is given",
        }),
      ],
      outputs: ["text"],
    },
    {
      name: "add",
      title: "Add to a time",
      inputs: [
        time("value"),
        number("amount", { required: true, description: "How many units" }),
        unit,
      ],
      outputs: ["value"],
    },
    {
      name: "diff",
      title: "Difference of times",
      inputs: [time("from"), time("to"), unit],
      outputs: ["value"],
    },
  ],
};

const digest: readonly ActionInput[] = [
  choice("algorithm", ["sha256", "sha384", "sha512", "sha1", "md5"], {
    required: true,
    description: "The hash function; sha1 and md5 are for old counterparts only",
  }),
  longText("text", { required: true, description: "What to hash, as UTF-8" }),
  choice("encoding", ["hex", "base64", "base64url"], {
    description: "The encoding of the digest; hex by default",
  }),
];

const crypto: BlockSource = {
  type: "crypto",
  name: "Digests",
  description: "Computes digests and signatures of texts.",
  kind: "core",
  category: "data",
  actions: [
    { name: "hash", title: "Hash", inputs: digest, outputs: ["digest"] },
    {
      name: "hmac",
      title: "HMAC",
      inputs: [
        ...digest,
        text("key", { required: true, description: "The key, best a secret: {{secrets.KEY}}" }),
      ],
      outputs: ["digest"],
    },
  ],
};

/** Without an action the block is the step type that runs another workflow. */
const workflow: BlockSource = {
  type: "workflow",
  name: "Workflow",
  description:
    "Runs another workflow as a step, or, with the action workflow.respond, sets this run's output and ends it.",
  kind: "core",
  category: "flow",
  withoutAction: [
    text("workflowId", {
      title: "Workflow",
      required: true,
      description: "The workflow to run",
    }),
    json("input", { description: "The run's input; an empty object by default" }),
    flag("wait", {
      description:
        "Whether the step waits for the run's end and returns its output; true where it is not given",
    }),
  ],
  actions: [
    {
      name: "respond",
      title: "Respond",
      inputs: [json("output", { schema: ANY, required: true, description: "The run's output" })],
      outputs: [],
    },
  ],
};

/** Core blocks whose steps are of the type `action` (D17). */
export const CORE_ACTION_BLOCKS: readonly BlockSource[] = [
  http,
  table,
  jsonBlock,
  textBlock,
  datetime,
  crypto,
  workflow,
];
