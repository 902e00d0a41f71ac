// Tokens of links that are mailed: an HMAC of the link's id and of a nonce in its row. The worker that sends the mail
// computes the token again, so that neither a row nor a job contains it. The database knows its SHA-256.

import { createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { isEqualBytes, sha256 } from './digest.ts'

const NONCE_BYTES = 16

export interface LinkSecret {
  nonce: Buffer
  /** SHA-256 of the token. */
  tokenHash: Buffer
}

export interface LinkTokens {
  /** The token of a new link, with what its row stores. */
  make(id: string): LinkSecret & { token: string }
  /** The token of a row. undefined when it was made under a master key that is no longer configured. */
  recompute(link: LinkSecret & { id: string }): string | undefined
}

/** @param keys Master keys: the current one first, then previous ones. */
export function createLinkTokens(keys: readonly Uint8Array[]): LinkTokens {
  const [current = Buffer.alloc(0), ...previous] = keys.map((key) =>
    Buffer.from(hkdfSync('sha256', key, '', 'countersign link token v1', 32)),
  )
  const tokenOf = (key: Buffer, id: string, nonce: Buffer) =>
    createHmac('sha256', key).update(id).update('\0').update(nonce).digest('base64url')

  return {
    make(id) {
      const nonce = randomBytes(NONCE_BYTES)
      const token = tokenOf(current, id, nonce)
      return { nonce, token, tokenHash: sha256(token) }
    },
    recompute({ id, nonce, tokenHash }) {
      return [current, ...previous]
        .map((key) => tokenOf(key, id, nonce))
        .find((token) => isEqualBytes(sha256(token), tokenHash))
    },
  }
}
