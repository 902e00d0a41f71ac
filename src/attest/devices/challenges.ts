// Challenges that hardware evidence must answer, which proves that it was made now and for us. Each is consumed once.

import { randomBytes } from 'node:crypto'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { type ChallengeRow, findChallenges, insertChallenges } from './challenge-rows.ts'

/** A fleet's backend requests them, its phones answer within the day, and it enrolls the phones together. */
export const CHALLENGE_SECONDS = 86_400
export const MAX_CHALLENGES = 1000
const CHALLENGE_BYTES = 32

export interface IssuedChallenge {
  challenge_id: string
  challenge: string
  expires_at: string
}

export interface ChallengesDeps {
  db: Pick<Database, 'tenant'>
  now: () => Date
}

export type Challenges = ReturnType<typeof createChallenges>

export function createChallenges({ db, now }: ChallengesDeps) {
  return {
    async issue(scope: Scope, count: number, key?: IdempotencyKey): Promise<{ challenges: IssuedChallenge[] }> {
      const issuedAt = now()
      const expiresAt = new Date(issuedAt.getTime() + CHALLENGE_SECONDS * 1_000)
      const entropy = randomBytes(count * CHALLENGE_BYTES)
      const made = Array.from({ length: count }, (_, index) => ({
        id: newId('chl', scope.environment, issuedAt.getTime()),
        challenge: entropy.subarray(index * CHALLENGE_BYTES, (index + 1) * CHALLENGE_BYTES).toString('base64url'),
        expiresAt,
      }))
      const ids = made.map(({ id }) => id)
      const insert = (tx: Tx) => insertChallenges(tx, scope, made, { issuedAt, expiresAt })
      await db.tenant(scope, (tx) => once(tx, key, insert, () => ids.join(' ')))
      return { challenges: made.map(issued) }
    },

    /** Challenges that were issued together; `ids` as `issue` stored them with its idempotency key. */
    async reissue(scope: Scope, ids: string): Promise<{ challenges: IssuedChallenge[] }> {
      const wanted = ids.split(' ')
      const rows = await db.tenant(scope, (tx) => findChallenges(tx, wanted))
      const found = new Map(rows.map((row) => [row.id, row]))
      return { challenges: wanted.flatMap((id) => found.get(id) ?? []).map(issued) }
    },
  }
}

function issued({ id, challenge, expiresAt }: Pick<ChallengeRow, 'id' | 'challenge' | 'expiresAt'>): IssuedChallenge {
  return { challenge_id: id, challenge, expires_at: expiresAt.toISOString() }
}
