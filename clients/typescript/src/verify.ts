// What the package exports.

export { canonicalize, canonicalizeJson } from './verify/canonicalize.ts'
export { createKeySource, type KeySource, type KeySourceOptions } from './verify/key-source.ts'
export { type Json, type JsonError, type JsonErrorCode, parseJson } from './verify/strict-json.ts'
export {
  type IntentClaims,
  type OfflineOptions,
  type OfflineVerdict,
  type PublicKey,
  verifyIntentTokenOffline,
} from './verify/verify-intent-token.ts'
