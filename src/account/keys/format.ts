// The format of an API key: `svc_live_` or `svc_test_`, 26 random base62 characters (154 bits) and a checksum of 6, so
// that secret scanners tell a real key from a lookalike. Vectors: vectors/keys/.

import { randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Environment } from '#src/platform/ids.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_LENGTH = 26
const CHECKSUM_LENGTH = 6
const WORD: Record<Environment, 'live' | 'test'> = { live: 'live', sandbox: 'test' }
const KEY = /^svc_(live|test)_([0-9A-Za-z]{32})$/

export interface KeyParts {
  environment: Environment
  /** First 8 characters, as displayed. */
  prefix: string
  last4: string
  /** False for configured keys that lack it; for hints and scanners, never a reason for refusal. */
  hasChecksum: boolean
}

/** A new raw key. Shown once, stored as its SHA-256. */
export function makeRawKey(environment: Environment): string {
  let random = ''
  for (let i = 0; i < RANDOM_LENGTH; i += 1) random += BASE62.charAt(randomInt(BASE62.length))
  return `svc_${WORD[environment]}_${random}${checksumOf(random)}`
}

/** Returns the parts of a raw key, or undefined when the text can't be a key of this service. */
export function parseKey(raw: string): KeyParts | undefined {
  const match = KEY.exec(raw)
  const body = match?.[2]
  if (body === undefined) return undefined
  const random = body.slice(0, RANDOM_LENGTH)
  return {
    environment: match?.[1] === 'live' ? 'live' : 'sandbox',
    prefix: raw.slice(0, 8),
    last4: raw.slice(-4),
    hasChecksum: body.slice(RANDOM_LENGTH) === checksumOf(random),
  }
}

/** CRC-32 (as in gzip) of the 26 random characters, base62, padded with zeros to 6. */
export function checksumOf(random: string): string {
  let rest = crc32(random)
  let text = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i += 1) {
    text = BASE62.charAt(rest % BASE62.length) + text
    rest = Math.floor(rest / BASE62.length)
  }
  return text
}
