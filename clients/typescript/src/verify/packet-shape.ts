// The members of an evidence packet that its checks read. Its other members are covered by the digests of its parts.

import { isObject } from './records.ts'
import type { Json } from './strict-json.ts'

export interface Packet {
  about: {
    packet_id: string
    claim_id: string
    account_id: string
    environment: string
    issued_at: string
    attestations: { included: number; total: number; is_complete: boolean }
  }
  claim: {
    reference: string | null
    risk_score: number | null
    provenance_status: string
    factor_codes: string[]
  }
  attestations: PacketAttestation[]
  devices: { device_id: string; spki: string }[]
}

export interface PacketResult {
  result_jws: string
  rules_version: Json
  provenance_status: string
  risk_status: string
  risk_score: number
  hardware_tier?: Json
  factors: { code: string; points: number; evidence?: Json }[]
  advisory_factors: Json[]
  observations?: Json
}

export interface PacketAttestation {
  attestation_id: string
  status: string
  device_id: string | null
  bundle_sha256: string | null
  accepted_at: string
  evaluated_at: string | null
  erased_at: string | null
  media: { sha256: string }
  key: { spki: string } | null
  submission: { bundle?: Json; signature?: Json }
  result: PacketResult | null
  earlier_results: {
    result_jws: string
    risk_score: Json
    risk_status: Json
    provenance_status: Json
    evaluated_at: Json
  }[]
}

type Test = (value: unknown) => boolean

const isText: Test = (value) => typeof value === 'string'
const isNumber: Test = (value) => typeof value === 'number'
const isFlag: Test = (value) => typeof value === 'boolean'
const orNull =
  (test: Test): Test =>
  (value) =>
    value === null || test(value)
const listOf =
  (test: Test): Test =>
  (value) =>
    Array.isArray(value) && value.every(test)
const shapeOf =
  (tests: Record<string, Test>): Test =>
  (value) =>
    isObject(value) &&
    Object.entries(tests).every(([name, test]) => test(Object.hasOwn(value, name) ? value[name] : undefined))

const isResult = shapeOf({
  result_jws: isText,
  provenance_status: isText,
  risk_status: isText,
  risk_score: isNumber,
  factors: listOf(shapeOf({ code: isText, points: isNumber })),
  advisory_factors: Array.isArray,
})

const isAttestation = shapeOf({
  attestation_id: isText,
  status: isText,
  device_id: orNull(isText),
  bundle_sha256: orNull(isText),
  accepted_at: isText,
  erased_at: orNull(isText),
  media: shapeOf({ sha256: isText }),
  key: orNull(shapeOf({ spki: isText })),
  submission: isObject,
  result: orNull(isResult),
  earlier_results: listOf(shapeOf({ result_jws: isText })),
})

const isWhole = shapeOf({
  about: shapeOf({
    packet_id: isText,
    claim_id: isText,
    account_id: isText,
    environment: isText,
    issued_at: isText,
    attestations: shapeOf({ included: isNumber, total: isNumber, is_complete: isFlag }),
  }),
  claim: shapeOf({
    reference: orNull(isText),
    risk_score: orNull(isNumber),
    provenance_status: isText,
    factor_codes: listOf(isText),
  }),
  attestations: listOf(isAttestation),
  devices: listOf(shapeOf({ device_id: isText, spki: isText })),
})

export function isPacket(value: unknown): value is Packet {
  return isWhole(value)
}
