import { describe, expect, it } from "@jest/globals";
import { step, stepProblems } from "./definition.ts";

const mail = { to: "a@b.c", subject: "s", text: "t" };

describe("an e-mail step is accepted", () => {
  it.each<[string, object]>([
    ["email", { to: "ada@example.com", subject: "Hi", text: "Hello" }],
    ["email", { to: ["Ada <ada@example.com>", "{{input.to}}"], subject: "", html: "<p>" }],
    ["email", { to: "a@b.c, Ada <d@e.f>,", subject: "s", text: "t" }],
    [
      "email",
      {
        to: '"Doe, Jane" <a@b.c>, {{input.x}}',
        bcc: "{{input.a}} <b@c.d>",
        subject: "s",
        text: "",
      },
    ],
    ["email", { to: "{{input.list}}", cc: '"Doe, Ada" <a@b.c>', subject: "{{input.s}}", text: "" }],
    ["email", { ...mail, attachments: "{{input.files}}" }],
    [
      "email",
      {
        ...mail,
        attachments: [
          { filename: "a.txt", content: "aGk=" },
          { filename: "bä.pdf", url: "https://x.example/a?b", contentType: "application/pdf" },
          { filename: "{{input.n}}.csv", content: "{{input.c}}", contentType: "{{input.t}}" },
          "{{input.file}}",
        ],
      },
    ],
  ])("%s with %j", (type, config) => {
    expect(stepProblems(step(type, "s", config))).toEqual([]);
  });
});

describe("an e-mail step is refused with the field and what would be right", () => {
  it.each<[string, object, string]>([
    [
      "email",
      { subject: "s", text: "t" },
      "config.to: must be an e-mail address, several with commas between them, or an array of them",
    ],
    [
      "email",
      { to: 5, subject: "s", text: "t" },
      "config.to: must be an e-mail address, several with commas between them, or an array",
    ],
    [
      "email",
      { to: "ada", subject: "s", text: "t" },
      "config.to: must be an e-mail address such as",
    ],
    ["email", { to: [], subject: "s", text: "t" }, "config.to: must have at least 1 item"],
    [
      "email",
      { to: " , ", subject: "s", text: "t" },
      "config.to: must be an e-mail address such as",
    ],
    [
      "email",
      { to: "a@b.c, ada, d@e.f", subject: "s", text: "t" },
      "config.to: has an entry, number 2 of 3, which is not an e-mail address such as",
    ],
    [
      "email",
      { to: "a@b.c", bcc: "Doe, Jane <a@b.c>", subject: "s", text: "t" },
      "config.bcc: has an entry, number 1 of 2, which is not an e-mail address such as",
    ],
    [
      "email",
      { to: '"Doe, Jane <a@b.c>', subject: "s", text: "t" },
      "config.to: has a quotation mark or an angle bracket that is not closed",
    ],
    [
      "email",
      { to: "a@b.c,\r\nd@e.f", subject: "s", text: "t" },
      "config.to: has an entry, number 2 of 2, which is not an e-mail address",
    ],
    [
      "email",
      { to: "a@b.c", cc: Array(51).fill("a@b.c").join(), subject: "s", text: "t" },
      "config.cc: must have at most 50 addresses",
    ],
    [
      "email",
      { to: ["a@b.c, d@e.f"], subject: "s", text: "t" },
      "config.to.0: must be an e-mail address",
    ],
    [
      "email",
      { to: ["a@b.c", "x"], subject: "s", text: "t" },
      "config.to.1: must be an e-mail address",
    ],
    [
      "email",
      { to: "a@b.c\r\nBcc: d@e.f", subject: "s", text: "t" },
      "config.to: must be an e-mail",
    ],
    [
      "email",
      { to: "a@b.c", subject: "s\nX: y", text: "t" },
      "config.subject: must be a single line",
    ],
    ["email", { to: "a@b.c", text: "t" }, "config.subject: is required and must be a string"],
    ["email", { to: "a@b.c", subject: "s" }, "config: an email has text, html or both"],
    [
      "email",
      { to: "a@b.c", from: "me", subject: "s", text: "t" },
      "config.from: must be an e-mail",
    ],
    ...Object.entries<[object, string]>({
      "nothing to attach": [{ filename: "a.txt" }, ": has either content or url"],
      "two sources": [
        { filename: "a.txt", content: "", url: "https://x.example" },
        ": has either content or url",
      ],
      "no name": [{ content: "aGk=" }, ".filename: is required"],
      "a header in the name": [
        { filename: 'a"\r\nX: y', content: "" },
        ".filename: must not hold line breaks",
      ],
      "a folder": [{ filename: "../a", content: "" }, ".filename: must be the name of a file"],
      "no base64": [{ filename: "a", content: "data:a;base64,aGk=" }, ".content: must be base64"],
      "another scheme": [{ filename: "a", url: "file:///etc/passwd" }, ".url: must be a URL that"],
      "a header in the type": [
        { filename: "a", content: "", contentType: "a/b\r\nX: y" },
        ".contentType: must be a type such as",
      ],
      "a message within": [
        { filename: "a", content: "", contentType: "Multipart/mixed" },
        ".contentType: must be the type of a file",
      ],
    }).map(([, [file, problem]]): [string, object, string] => [
      "email",
      { ...mail, attachments: [file] },
      `config.attachments.0${problem}`,
    ]),
    [
      "email",
      { ...mail, attachments: Array.from({ length: 21 }, () => ({ filename: "a", content: "" })) },
      "config.attachments: must have at most 20 items",
    ],
    ["email", { ...mail, attachments: "files" }, "config.attachments: must be an array"],
  ])("%s with %j", (type, config, problem) => {
    expect(stepProblems(step(type, "s", config))).toEqual([
      expect.stringContaining(`steps.0.${problem}`),
    ]);
  });
});
