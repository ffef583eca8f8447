import type { AuditTrail } from "@workflow/audit";
import type { CursorCodec, Database } from "@workflow/db";
import type { AgentModels } from "./domain/agent-models.ts";
import type { HandOver } from "./deployment/hand-over.ts";
import type { WorkflowReads } from "./store/workflow-reads.ts";
import type { DefinitionChecker } from "./validation/definition-checker.ts";

/** What the RPC handlers work with. */
export interface ServiceContext {
  database: Database;
  /** Of single workflows. */
  reads: WorkflowReads;
  cursors: CursorCodec;
  handOver: HandOver;
  audit: AuditTrail;
  checker: DefinitionChecker;
  /** The model that agents of each AI provider use. */
  agentModels: AgentModels;
  /** To be called after commits that put events into the outbox. */
  onEvents: () => void;
}
