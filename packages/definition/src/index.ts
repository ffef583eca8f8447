export { DIGEST_ENCODINGS, HASH_ALGORITHMS } from "./actions/crypto.ts";
export { HTTP_METHODS } from "./actions/http-request.ts";
export { DATETIME_FORMAT_CHARS_MAX, DATETIME_UNITS } from "./actions/datetime.ts";
export { ACTIONS, findAction } from "./actions/registry.ts";
export type { ActionDefinition } from "./actions/action.ts";
export { compileDefinition } from "./compile-definition.ts";
export type {
  CompiledActionStep,
  CompiledAgentStep,
  CompiledApprovalStep,
  CompiledBranch,
  CompiledConditionStep,
  CompiledDefinition,
  CompiledDelayStep,
  CompiledEmailStep,
  CompiledLoopStep,
  CompiledParallelBranch,
  CompiledParallelStep,
  CompiledStep,
  CompiledStepBase,
  CompiledTransformStep,
  CompiledWorkflowStep,
  ParallelStrategy,
} from "./compiled-definition.ts";
export { checkCondition, compileCondition, evaluateCondition } from "./condition.ts";
export type { CompiledCondition } from "./condition.ts";
export { parseCron } from "./cron.ts";
export type { CronResult, CronRule } from "./cron.ts";
export { isDecidingKeyword } from "./deciding-keywords.ts";
export { BINARY_OPERATORS, UNARY_OPERATORS } from "./condition-operators.ts";
export {
  describeActions,
  describeRetryPolicy,
  describeSettings,
  describeStep,
  describeStepTypes,
  describeTriggers,
} from "./describe.ts";
export type {
  ActionDescription,
  NestedSchemas,
  StepTypeDescription,
  TriggerDescription,
} from "./describe.ts";
export type { ExpressionPath, ParsedExpression, ParsedExpressions } from "./expression.ts";
export { InvalidDefinitionError } from "./invalid-definition-error.ts";
export { parseIsoTime } from "./iso-time.ts";
export { compileJsonSchema, countSchemaParts, estimateSchemaPatterns } from "./json-schema.ts";
export type { JsonSchemaResult, JsonSchemaValidator } from "./json-schema.ts";
export { NAMING_KEYWORDS } from "./json-schema-places.ts";
export { listExpressions } from "./list-expressions.ts";
export { DEFINITION_LIMITS } from "./limits.ts";
export { nestedBlocks } from "./nested-blocks.ts";
export { planDefinition, planDefinitionInTurns } from "./plan/plan-definition.ts";
export type { DefinitionPlan, PlanOptions } from "./plan/plan-definition.ts";
export type { NamedConnection, PlannedStep } from "./plan/plan-steps.ts";
export { retryDelayMs, retryPolicySchema } from "./retry-policy.ts";
export type { RetryPolicy } from "./retry-policy.ts";
export { latestFiring, nextFiring, nextFirings } from "./schedule-times.ts";
export type { ScheduleInterval, Timetable } from "./schedule-times.ts";
export { isSecretHost, parseSecretHosts } from "./secret-hosts.ts";
export { secretKeyProblem, secretValueProblem } from "./secret.ts";
export { settingsSchema } from "./settings.ts";
export type { CompiledSettings, Settings } from "./settings.ts";
export {
  ATTACHMENT_LIMITS,
  contentTypeProblem,
  decodeBase64,
  filenameProblem,
} from "./step-types/email-attachments.ts";
export { findStepType, STEP_TYPES } from "./step-types/registry.ts";
export type { StepType } from "./step-types/step-type.ts";
export { idSchema } from "./step.ts";
export type { NestedBlock, Step, TemplateField } from "./step.ts";
export { TemplateError } from "./template-error.ts";
export type { TemplateErrorCode } from "./template-error.ts";
export { TEMPLATE_ROOTS } from "./template-parser.ts";
export type { TemplatePath, TemplateRoot } from "./template-parser.ts";
export { listReferences, scanTemplates } from "./template-scan.ts";
export type { TemplateReference, TemplateScan } from "./template-scan.ts";
export { renderText } from "./text-template.ts";
export { compileTemplates, evaluate, SECRET_MASK } from "./template.ts";
export type { CompiledValue, EvaluatedValue, TemplateScope } from "./template.ts";
export { foldWebhookPath, parseScheduleChange, TABLE_EVENTS, triggerSchema } from "./trigger.ts";
export type { CompiledTrigger, ScheduleChangeResult, TableEvent, Trigger } from "./trigger.ts";
export { validateDefinition, validateInTurns } from "./validate-definition.ts";
export type {
  DefinitionInput,
  ValidationOptions,
  ValidationResult,
  WorkflowDefinition,
} from "./validate-definition.ts";
export { ADDRESSES_MAX, hasControls, splitAddresses } from "./address-list.ts";
export { ENTRIES_MAX, findOversized } from "./entry-budget.ts";
