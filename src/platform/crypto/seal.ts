// Secrets at rest. A sealed value opens only under the key that its header names and for the use that `aad` names:
// bytes moved to another row or column don't open there.

import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto'
import { takeRandomBytes } from './random.ts'

export interface Sealer {
  /**
   * `aad` says what the value is and whose, for example `webhook secret whe_live_...`. It is authenticated, not stored.
   */
  seal(plaintext: Uint8Array, aad: string): Buffer
  /**
   * @throws {Error} when the value is truncated, changed, sealed for another `aad`, or under a key that isn't
   * configured.
   */
  open(sealed: Uint8Array, aad: string): Buffer
  /** The ids of the keys that open, the one that seals first. */
  keyIds: readonly string[]
  /** How every value begins that the current key sealed, and no other value. */
  currentHeader: Buffer
}

export interface MasterKey {
  /** 1 to 64 characters of `A-Z a-z 0-9 . _ -`. Readable in every sealed value. */
  id: string
  /** 32 random bytes. */
  key: Buffer
}

export interface MasterKeys {
  /** Seals and opens. */
  current: MasterKey
  /** Only open: values sealed before a rotation. */
  previous?: readonly MasterKey[]
}

// version (1 byte), length of the key id (1), key id, iv (12), tag (16), ciphertext
const VERSION = 1
const IV_BYTES = 12
const TAG_BYTES = 16
const KEY_ID = /^[A-Za-z0-9._-]{1,64}$/

/**
 * AES-256-GCM with a random 96-bit iv for each value: safe for 2^32 values under one key (NIST SP 800-38D 8.3).
 * @throws {Error} on a key that isn't 32 bytes, a malformed id or an id that names two keys.
 */
export function createSealer({ current, previous = [] }: MasterKeys): Sealer {
  const keys = new Map<string, KeyObject>()
  for (const { id, key } of [current, ...previous]) {
    if (!KEY_ID.test(id)) throw new Error('a master key id has 1 to 64 characters of A-Z a-z 0-9 . _ -')
    if (key.byteLength !== 32) throw new Error(`master key ${id} must have 32 bytes`)
    if (keys.has(id)) throw new Error(`master key id ${id} is given twice`)
    keys.set(id, createSecretKey(key))
  }
  const currentHeader = Buffer.concat([Buffer.from([VERSION, current.id.length]), Buffer.from(current.id, 'latin1')])

  return {
    keyIds: [...keys.keys()],
    currentHeader,

    seal(plaintext, aad) {
      const iv = takeRandomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', keyFor(current.id), iv, { authTagLength: TAG_BYTES })
      cipher.setAAD(authenticated(currentHeader, aad))
      const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()])
      return Buffer.concat([currentHeader, iv, cipher.getAuthTag(), ciphertext])
    },

    open(sealed, aad) {
      const { header, keyId, iv, tag, ciphertext } = split(Buffer.from(sealed))
      const decipher = createDecipheriv('aes-256-gcm', keyFor(keyId), iv, { authTagLength: TAG_BYTES })
      decipher.setAAD(authenticated(header, aad))
      decipher.setAuthTag(tag)
      try {
        return Buffer.concat([decipher.update(ciphertext), decipher.final()])
      } catch (cause) {
        throw new Error('the sealed value was changed, or was sealed for another use', { cause })
      }
    },
  }

  function keyFor(id: string): KeyObject {
    const key = keys.get(id)
    if (key === undefined) throw new Error(`the value is sealed under master key ${id}, which is not configured`)
    return key
  }
}

// The header delimits itself, so no other pair of header and aad concatenates to the same bytes.
function authenticated(header: Buffer, aad: string): Buffer {
  return Buffer.concat([header, Buffer.from(aad, 'utf8')])
}

function split(sealed: Buffer) {
  const [version, idLength = 0] = sealed
  if (version === undefined) throw new Error('the sealed value is empty')
  if (version !== VERSION) throw new Error(`the sealed value has the unknown version ${version}`)
  const ivAt = 2 + idLength
  const tagAt = ivAt + IV_BYTES
  const textAt = tagAt + TAG_BYTES
  if (sealed.byteLength < textAt) throw new Error('the sealed value is truncated')
  const keyId = sealed.toString('latin1', 2, ivAt)
  if (!KEY_ID.test(keyId)) throw new Error('the sealed value names no valid master key id')
  return {
    header: sealed.subarray(0, ivAt),
    keyId,
    iv: sealed.subarray(ivAt, tagAt),
    tag: sealed.subarray(tagAt, textAt),
    ciphertext: sealed.subarray(textAt),
  }
}
