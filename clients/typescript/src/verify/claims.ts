// The form of the claims. Other members than the known ones are ignored: later versions of the service add some.

import type { Json } from './strict-json.ts'
import type { IntentClaims } from './verify-intent-token.ts'

type Check = (value: Json | undefined) => boolean

const isText: Check = (value) => typeof value === 'string' && value.length > 0
const isCount: Check = (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0
const isFlag: Check = (value) => typeof value === 'boolean'
// 32 bytes in base64url without padding; the last character carries four bits.
const HASH = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/
const isHash: Check = (value) => typeof value === 'string' && HASH.test(value)

const REQUIRED: [string, Check][] = [
  ['iss', isText],
  ['sub', isText],
  ['aud', isText],
  ['jti', isText],
  ['iat', isCount],
  ['exp', isCount],
  ['env', (value) => value === 'sandbox' || value === 'live'],
  ['action_hash', isHash],
  ['payload_hash', isHash],
  ['agent_session_id', isText],
  ['device_id', isText],
  ['policy_version', isCount],
  ['status', isStatus],
]

const OPTIONAL: [string, Check][] = [
  ['nbf', isCount],
  ['context_hash', isHash],
  ['trace_id', isText],
  ['reading_hash', isHash],
  ['agent_id', isText],
  ['mandate_id', isText],
  ['schedule_id', isText],
  ['cycle', isCount],
  ['biometric', isBiometric],
  ['approval_id', isText],
  ['single_use', isFlag],
]

/** undefined unless every claim that a token must have is there, and every known one has its form. */
export function readClaims(payload: { [name: string]: Json }): IntentClaims | undefined {
  const isWhole = REQUIRED.every(([name, check]) => check(memberOf(payload, name)))
  const isSound = OPTIONAL.every(([name, check]) => !Object.hasOwn(payload, name) || check(memberOf(payload, name)))
  return isWhole && isSound ? (payload as unknown as IntentClaims) : undefined
}

function isStatus(value: Json | undefined): boolean {
  const list = memberOf(value, 'status_list')
  return isCount(memberOf(list, 'idx')) && isText(memberOf(list, 'uri'))
}

function isBiometric(value: Json | undefined): boolean {
  return (
    typeof memberOf(value, 'verified') === 'boolean' &&
    typeof memberOf(value, 'uv') === 'boolean' &&
    isText(memberOf(value, 'credential')) &&
    isCount(memberOf(value, 'at'))
  )
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return Object.hasOwn(value, name) ? value[name] : undefined
}
