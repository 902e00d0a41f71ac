// The entry `@countersign/client/verify`: what the service signed, checked without it.

export { canonicalize, canonicalizeJson } from './verify/canonicalize.ts'
export { type CheckpointClaims, type CheckpointVerdict, verifyCheckpoint } from './verify/checkpoint.ts'
export {
  type InclusionProblem,
  type InclusionProof,
  type InclusionVerdict,
  verifyInclusion,
} from './verify/inclusion.ts'
export { createKeySource, type KeySource, type KeySourceOptions } from './verify/key-source.ts'
export {
  createLedgerCheck,
  type HeldCheckpoint,
  type LedgerExportOptions,
  type LedgerReport,
  verifyLedgerExport,
} from './verify/ledger.ts'
export type { LedgerCheckName, LedgerFinding, LedgerOutcome } from './verify/ledger-findings.ts'
export {
  type KeyRevocation,
  type RecordKey,
  type RecordKeys,
  type RecordVerdict,
  verifyRecord,
} from './verify/records.ts'
export { type Json, JsonError, type JsonErrorCode, parseJson } from './verify/strict-json.ts'
export {
  type IntentClaims,
  type OfflineOptions,
  type OfflineVerdict,
  type PublicKey,
  verifyIntentTokenOffline,
} from './verify/verify-intent-token.ts'
export {
  type DeliveryHeaders,
  type SignatureOptions,
  type SignatureReason,
  type SignatureVerdict,
  verifyWebhookSignature,
} from './verify/webhook.ts'
