import { credentials, Metadata } from "@grpc/grpc-js";
import type { CallOptions, ServiceError } from "@grpc/grpc-js";
import { TriggerType } from "@workflow/proto/runs/v1/run";
import { RunsServiceClient } from "@workflow/proto/runs/v1/runs";
import type { Run } from "@workflow/proto/runs/v1/run";
import { WorkflowsServiceClient } from "@workflow/proto/workflows/v1/workflows";
import type { CreateWorkflowRequest, Workflow } from "@workflow/proto/workflows/v1/workflows";

/** Where the services listen, and the token that a caller shows to both. */
export interface Connection {
  /** `host:port` of the workflows service. */
  workflowsAddress: string;
  /** `host:port` of the runs service. */
  runsAddress: string;
  token: string;
}

/** The few operations that the example needs. Each rejects with the `ServiceError` of its call. */
export interface Client {
  /** Stores a workflow as draft. */
  createWorkflow(request: CreateWorkflowRequest): Promise<Workflow>;
  /** Makes it active; once this has answered it can be run. */
  activateWorkflow(workflowId: string): Promise<Workflow>;
  /** Starts a run and waits for its end, at most `waitMs` milliseconds. */
  runToEnd(workflowId: string, input: object, waitMs: number): Promise<Run>;
  /** The run with what each of its steps did. */
  getRun(runId: string): Promise<Run>;
  /** Takes the workflow out of use; its runs stay. */
  archiveWorkflow(workflowId: string): Promise<Workflow>;
  close(): void;
}

/** How long a call may take beyond what it is told to wait, in milliseconds. */
const CALL_TIMEOUT_MS = 10_000;

/** Connects to a system on this machine; beyond it use TLS credentials. */
export function connect({ workflowsAddress, runsAddress, token }: Connection): Client {
  const workflows = new WorkflowsServiceClient(workflowsAddress, credentials.createInsecure());
  const runs = new RunsServiceClient(runsAddress, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${token}`);
  return {
    createWorkflow: (request) =>
      unary((done) => workflows.createWorkflow(request, metadata, within(), done)),
    activateWorkflow: (workflowId) =>
      unary((done) => workflows.activateWorkflow({ workflowId }, metadata, within(), done)),
    async runToEnd(workflowId, input, waitMs) {
      const request = {
        workflowId,
        inputJson: JSON.stringify(input),
        triggerType: TriggerType.API,
        waitMs,
      };
      const { run } = await unary<{ run: Run | undefined }>((done) =>
        runs.startRun(request, metadata, within(waitMs), done),
      );
      if (run === undefined) throw new Error("The answer holds no run.");
      return run;
    },
    getRun: (runId) => unary((done) => runs.getRun({ runId }, metadata, within(), done)),
    archiveWorkflow: (workflowId) =>
      unary((done) => workflows.archiveWorkflow({ workflowId }, metadata, within(), done)),
    close() {
      workflows.close();
      runs.close();
    },
  };
}

/** Without a deadline a call waits for ever. */
function within(waitMs = 0): CallOptions {
  return { deadline: Date.now() + waitMs + CALL_TIMEOUT_MS };
}

type Callback<Response> = (error: ServiceError | null, response: Response) => void;

function unary<Response>(call: (done: Callback<Response>) => unknown): Promise<Response> {
  return new Promise((resolve, reject) => {
    call((error, response) => {
      if (error === null) resolve(response);
      else reject(error);
    });
  });
}
