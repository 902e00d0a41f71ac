// What the package exports.

export { canonicalize, canonicalizeJson } from './canonicalize.ts'
export { createKeySource, type KeySource, type KeySourceOptions } from './key-source.ts'
export { type Json, type JsonError, type JsonErrorCode, parseJson } from './strict-json.ts'
export {
  type IntentClaims,
  type OfflineOptions,
  type OfflineVerdict,
  type PublicKey,
  verifyIntentTokenOffline,
} from './verify-intent-token.ts'
