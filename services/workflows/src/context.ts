import type { AuditTrail } from "@workflow/audit";
import type { CursorCodec, Database } from "@workflow/db";
import type { AgentModels } from "./domain/agent-models.ts";
import type { HandOver } from "./deployment/hand-over.ts";
import type { WorkflowReads } from "./store/workflow-reads.ts";
import type { DefinitionChecker } from "./validation/definition-checker.ts";

/** The dependencies of the RPC handlers. */
export interface ServiceContext {
  database: Database;
  /** Reads single workflows, many in one statement. */
  reads: WorkflowReads;
  cursors: CursorCodec;
  handOver: HandOver;
  audit: AuditTrail;
  checker: DefinitionChecker;
  /** The model of each AI provider. */
  agentModels: AgentModels;
  /** Call it after commits that put events into the outbox. */
  onEvents: () => void;
}
