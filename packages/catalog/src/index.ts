export { choice, files, flag, json, list, number, text } from "./action-input.ts";
export type { ActionInput, Control, InputOption, InputPlace, InputType } from "./action-input.ts";
export { BLOCK_KINDS } from "./blocks/block.ts";
export type { Block, BlockInput, BlockKind, SubBlock } from "./blocks/block.ts";
export { eachBlock, findBlock, listBlocks } from "./blocks/registry.ts";
export { baseUrlOf, fieldProblem, ForeignUrlError } from "./build-request.ts";
export type { ActionCall, ProviderRequest } from "./build-request.ts";
export { callAction } from "./call-action.ts";
export type { ActionResult } from "./call-action.ts";
export {
  checkInputs,
  findIgnoredKeys,
  findMissingInputs,
  findOversized,
  findRenamedInputs,
  findUselessInputs,
  inputsOf,
} from "./check-inputs.ts";
export type { InputProblem } from "./check-inputs.ts";
export { conditionHolds } from "./field-condition.ts";
export type { FieldCondition } from "./field-condition.ts";
export { fill, MissingFieldError, patternValues, placeholdersOf } from "./fill-pattern.ts";
export type { InputRelations } from "./input-relations.ts";
export { InvalidInputError } from "./invalid-input-error.ts";
export { readPath } from "./json-path.ts";
export { withOperatorCredentials } from "./operator-credentials.ts";
export { buildLogin, loginOf, readLogin } from "./login.ts";
export type { LoginToken } from "./login.ts";
export { formatMailAddress, hasControls, parseMailAddress } from "./mail-address.ts";
export type { MailAddress } from "./mail-address.ts";
export { mayBeRepeated } from "./may-be-repeated.ts";
export { LIST_LIMITS } from "./pages.ts";
export type * from "./provider-auth.ts";
export type * from "./provider-manifest.ts";
export { findProvider, findProviderAction, PROVIDERS } from "./providers/index.ts";
export { buildSubscription } from "./subscription.ts";
export { findFailure } from "./read-answer.ts";
export type { ProviderFailure } from "./read-answer.ts";
export { buildVerification, judgeVerification, provesAccount } from "./verification.ts";
export type { Verdict } from "./verification.ts";
export { boundedMessages, describeKind, firstIssues, issueProblems, oneOf } from "./issue-words.ts";
export { nearestTexts } from "./nearest-texts.ts";
export { describeWrongChoice } from "./option-words.ts";
