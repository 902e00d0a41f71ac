// Checks the claims of a payload without a schema library, which would take as long as the signature. Other members than the
// known ones are ignored, since later versions add some.

import type { Json } from './strict-json.ts'
import type { IntentClaims } from './verify-intent-token.ts'

type Check = (value: Json) => boolean

const isText: Check = (value) => typeof value === 'string' && value.length > 0
const isTime: Check = (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0
// 32 bytes in base64url without padding; the last character carries four bits.
const HASH = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/
const isHash: Check = (value) => typeof value === 'string' && HASH.test(value)
const isCount = isTime
const isFlag: Check = (value) => typeof value === 'boolean'

const REQUIRED: Record<string, Check> = {
  iss: isText,
  sub: isText,
  aud: isText,
  jti: isText,
  iat: isTime,
  exp: isTime,
  env: (value) => value === 'sandbox' || value === 'live',
  action_hash: isHash,
  payload_hash: isHash,
  agent_session_id: isText,
  device_id: isText,
  policy_version: isCount,
  status: isStatus,
}

const OPTIONAL: Record<string, Check> = {
  nbf: isTime,
  context_hash: isHash,
  trace_id: isText,
  reading_hash: isHash,
  agent_id: isText,
  mandate_id: isText,
  schedule_id: isText,
  cycle: isCount,
  order_id: isText,
  order_hash: isHash,
  biometric: isBiometric,
  approval_id: isText,
  single_use: isFlag,
}

const required = Object.entries(REQUIRED)
const optional = Object.entries(OPTIONAL)

/** undefined unless every claim that a token must have is there, and every known one has its form. */
export function readClaims(payload: { [name: string]: Json }): IntentClaims | undefined {
  for (const [name, check] of required) {
    const value = payload[name]
    if (value === undefined || !check(value)) return undefined
  }
  for (const [name, check] of optional) {
    const value = payload[name]
    if (value !== undefined && !check(value)) return undefined
  }
  return payload as unknown as IntentClaims
}

function isStatus(value: Json): boolean {
  const list = memberOf(value, 'status_list')
  const [idx, uri] = [memberOf(list, 'idx'), memberOf(list, 'uri')]
  return idx !== undefined && isCount(idx) && uri !== undefined && isText(uri)
}

function isBiometric(value: Json): boolean {
  const [credential, at] = [memberOf(value, 'credential'), memberOf(value, 'at')]
  return (
    typeof memberOf(value, 'verified') === 'boolean' &&
    typeof memberOf(value, 'uv') === 'boolean' &&
    credential !== undefined &&
    isText(credential) &&
    at !== undefined &&
    isTime(at)
  )
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return Object.hasOwn(value, name) ? value[name] : undefined
}
