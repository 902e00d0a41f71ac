// The parts that vectors are made of: keys, claims and tokens.

import { createHmac } from 'node:crypto'
import { makeVectorKey, N, rawSignature, signNumbers, type VectorKey } from './signing.ts'

export const KEYS = {
  live: makeVectorKey('live token key', 'live', 'token'),
  next: makeVectorKey('next live token key', 'live', 'token'),
  sandbox: makeVectorKey('sandbox token key', 'sandbox', 'token'),
  record: makeVectorKey('live record key', 'live', 'record'),
  stranger: makeVectorKey('key in no set', 'live', 'token'),
}

/** The key set of the cases that bring no other. */
export const KEY_SET = [KEYS.live, KEYS.next, KEYS.sandbox, KEYS.record].map(({ jwk }) => jwk)

/** 2026-11-20T12:00:00Z. */
export const NOW = 1_795_176_000

const HASH = 'n4bQgYhMfWWaL-qgxVrQFaO_TxsrC4Is0V1sFbDwCgg'

export const CLAIMS = {
  iss: 'https://api.example.com',
  sub: 'acc_01m7x7enn9exb9d4gh0kbvf97d',
  aud: 'https://shop.example.com',
  jti: 'jti_live_01m7x7kz8ye4e8k5v3d9s6q0ta',
  iat: NOW - 60,
  exp: NOW + 240,
  env: 'live',
  action_hash: HASH,
  payload_hash: 'RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o',
  agent_session_id: 'shopping-4711',
  device_id: 'dev_live_01m7x7en8bf9nbq2rz3w0k6v4d',
  policy_version: 3,
  status: { status_list: { idx: 90_210, uri: 'https://api.example.com/v1/intent/status-lists/live_0' } },
}

export const HEADER = { alg: 'ES256', typ: 'intent+jwt', kid: KEYS.live.kid }

type Member = object | string | Buffer

export interface Made {
  header?: Member
  payload?: Member
  key?: VectorKey
}

const textOf = (member: Member) =>
  typeof member === 'string' || Buffer.isBuffer(member) ? member : JSON.stringify(member)

export const encode = (member: Member) => Buffer.from(textOf(member)).toString('base64url')

/** The signed part. Strings and buffers are taken as they are. */
export function inputOf({ header = HEADER, payload = CLAIMS }: Made = {}): string {
  return `${encode(header)}.${encode(payload)}`
}

export function makeToken(made: Made = {}): string {
  const input = inputOf(made)
  return `${input}.${rawSignature(signNumbers(made.key ?? KEYS.live, input)).toString('base64url')}`
}

/** Makes a token with another signature. */
export function withSignature(bytes: Buffer | string, made: Made = {}): string {
  return `${inputOf(made)}.${Buffer.from(bytes as string).toString('base64url')}`
}

export function withClaims(changes: object): string {
  return makeToken({ payload: { ...CLAIMS, ...changes } })
}

export function withHeader(changes: object): string {
  return makeToken({ header: { ...HEADER, ...changes } })
}

export function without<Whole extends object>(whole: Whole, name: string): object {
  return Object.fromEntries(Object.entries(whole).filter(([member]) => member !== name))
}

/** Signed by HMAC, with something public as the secret. */
export function makeHmacToken(secret: string | Buffer): string {
  const input = inputOf({ header: { ...HEADER, alg: 'HS256' } })
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
}

/** A token whose r or s begins with a zero byte, which some libraries drop. */
export function makeShortToken(which: 'r' | 's'): string {
  for (let attempt = 0; ; attempt += 1) {
    const payload = { ...CLAIMS, trace_id: `short-${which}-${attempt}` }
    const numbers = signNumbers(KEYS.live, inputOf({ payload }))
    if (numbers[which] >> 248n === 0n) return withSignature(rawSignature(numbers), { payload })
  }
}

/** The same token with the other of its two signatures (r, n - s). */
export function makeTwin(): string {
  const { r, s } = signNumbers(KEYS.live, inputOf())
  return withSignature(rawSignature({ r, s: N - s }))
}

/** Makes a token of about this many characters, by a member that readers ignore. */
export function makeLongToken(characters: number): string {
  const rest = makeToken({ payload: { ...CLAIMS, note: '' } }).length
  const filler = 'x'.repeat(Math.floor(((characters - rest) * 3) / 4))
  return makeToken({ payload: { ...CLAIMS, note: filler } })
}
