/** A kind of workflow in the mixed load, whose output depends on its input `n` alone. */
export interface Kind {
  name: string;
  steps: readonly unknown[];
  settings?: unknown;
}

/** The workflows of the mixed load. `url` is the receiver of `receiver.ts`. */
export function makeKinds(url: string): readonly Kind[] {
  const call: Call = (id, path, more = {}) => ({
    id,
    type: "action",
    name: id,
    action: "http.request",
    config: { method: "POST", url: url + path, body: { n: "{{input.n}}" } },
    ...more,
  });
  return [...simpleKinds(call), ...branchingKinds(call), ...parallelKinds(call)];
}

/** Makes a step that calls the receiver. */
type Call = (id: string, path: string, more?: object) => object;

const wait = (id: string, durationMs: number) => step(id, "delay", { durationMs });
const sum = (id: string, mapping: unknown) => step(id, "transform", { mapping });

/** Kinds of a few steps in a row. */
function simpleKinds(call: Call): readonly Kind[] {
  return [
    {
      name: "plain",
      steps: [
        sum("first", { n: "{{input.n}}" }),
        sum("second", { n: "{{steps.first.output.n}}", text: "n is {{input.n}}" }),
      ],
    },
    {
      name: "calls",
      steps: [
        call("before", "/echo"),
        wait("pause", 300),
        call("after", "/echo"),
        sum("out", ["{{steps.before.output.body.n}}", "{{steps.after.output.body.n}}"]),
      ],
    },
    {
      name: "retries",
      steps: [
        call("flaky", "/flaky", {
          retry: {
            maxAttempts: 10,
            backoff: "fixed",
            delayMs: 100,
            maxDelayMs: 100,
            jitter: false,
          },
        }),
        sum("out", "{{steps.flaky.output.body.n}}"),
      ],
    },
    {
      name: "limited",
      steps: [call("call", "/echo"), sum("out", "{{steps.call.output.body.n}}")],
      settings: { concurrency: { limit: 3 } },
    },
  ];
}

/** Kinds whose steps branch, or go round. */
function branchingKinds(call: Call): readonly Kind[] {
  return [
    {
      name: "condition",
      steps: [
        step("which", "condition", {
          branches: [
            {
              id: "even",
              when: { left: "{{input.n}}", operator: "in", right: [0, 2, 4] },
              steps: [call("call", "/echo"), wait("rest", 200)],
            },
          ],
          else: [sum("odd", "odd")],
        }),
        sum("out", ["{{steps.which.output.branch}}", "{{steps.call.output.body.n}}"]),
      ],
    },
    {
      name: "loop",
      steps: [
        step("each", "loop", {
          items: [1, 2, 3],
          steps: [
            call("call", "/echo"),
            wait("rest", 100),
            sum("item", ["{{loop.item}}", "{{steps.call.output.body.n}}"]),
          ],
        }),
        sum("out", "{{steps.each.output}}"),
      ],
    },
  ];
}

/** Kinds whose steps run beside each other. */
function parallelKinds(call: Call): readonly Kind[] {
  return [
    {
      name: "parallel",
      steps: [
        step("both", "parallel", {
          branches: [
            { id: "left", steps: [call("one", "/echo"), wait("rest", 250)] },
            { id: "right", steps: [wait("sleep", 150), call("two", "/echo")] },
            {
              id: "many",
              steps: [
                step("fan", "parallel", {
                  forEach: [1, 2, 3, 4],
                  concurrency: 2,
                  steps: [call("three", "/echo"), sum("got", "{{loop.item}}")],
                }),
              ],
            },
          ],
        }),
        sum("out", ["{{steps.one.output.body.n}}", "{{steps.two.output.body.n}}"]),
      ],
    },
    {
      name: "approval",
      steps: [
        step("both", "parallel", {
          branches: [
            { id: "ask", steps: [step("sure", "approval", { message: "n is {{input.n}}" })] },
            { id: "work", steps: [call("call", "/echo"), wait("rest", 200)] },
          ],
        }),
        sum("out", ["{{steps.sure.output.decision}}", "{{steps.call.output.body.n}}"]),
      ],
    },
  ];
}

/** A workflow whose step is a run of another workflow. */
export function makeParentKind(childWorkflowId: string): Kind {
  const input = { n: "{{input.n}}" };
  return {
    name: "parent",
    steps: [step("child", "workflow", { workflowId: childWorkflowId, input })],
  };
}

function step(id: string, type: string, config: unknown) {
  return { id, type, name: id, config };
}
