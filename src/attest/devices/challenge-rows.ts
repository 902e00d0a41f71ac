import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { ChallengeState } from '../hardware/evidence.ts'

export interface ChallengeRow {
  id: string
  challenge: string
  expiresAt: Date
  consumedBy: string | null
}

export async function insertChallenges(
  tx: Tx,
  scope: Scope,
  challenges: readonly { id: string; challenge: string }[],
  { issuedAt, expiresAt }: { issuedAt: Date; expiresAt: Date },
): Promise<void> {
  await tx.query(
    `INSERT INTO device_challenges (account_id, environment, id, challenge, issued_at, expires_at)
     SELECT $1, $2, new.id, new.challenge, $5, $6 FROM unnest($3::text[], $4::text[]) AS new (id, challenge)`,
    [
      scope.accountId,
      scope.environment,
      challenges.map(({ id }) => id),
      challenges.map(({ challenge }) => challenge),
      issuedAt,
      expiresAt,
    ],
  )
}

/** Returns the challenges in no order. */
export async function findChallenges(tx: Tx, ids: readonly string[]): Promise<ChallengeRow[]> {
  return tx.query<ChallengeRow>(`SELECT ${CHALLENGE} FROM device_challenges WHERE id = ANY($1::text[])`, [ids])
}

/**
 * Consumes each challenge for the device given with it, and returns the state that each was in. When one call has two
 * answers to one challenge, the first counts.
 */
export async function consumeChallenges(
  tx: Tx,
  uses: readonly { challenge: string; deviceId: string }[],
  now: Date,
): Promise<ChallengeState[]> {
  const first = new Map<string, string>()
  for (const { challenge, deviceId } of uses) if (!first.has(challenge)) first.set(challenge, deviceId)
  const challenges = [...first.keys()]
  if (challenges.length === 0) return []
  // In a fixed order: otherwise two imports that answer the same challenges would deadlock.
  const rows = await tx.query<ChallengeRow>(
    `SELECT ${CHALLENGE} FROM device_challenges WHERE challenge = ANY($1::text[]) ORDER BY challenge FOR UPDATE`,
    [challenges],
  )
  const known = new Map(rows.map((row) => [row.challenge, row]))
  const fresh = rows.filter(({ consumedBy, expiresAt }) => consumedBy === null && expiresAt >= now)
  await tx.query(
    `UPDATE device_challenges SET consumed_by = $2::jsonb ->> challenge, consumed_at = $3
     WHERE challenge = ANY($1::text[])`,
    [fresh.map(({ challenge }) => challenge), JSON.stringify(Object.fromEntries(first)), now],
  )
  return uses.map(({ challenge, deviceId }) => {
    const row = known.get(challenge)
    if (row === undefined) return 'unknown'
    if (row.consumedBy !== null || first.get(challenge) !== deviceId) return 'used'
    return row.expiresAt < now ? 'expired' : 'fresh'
  })
}

/** Which device answered each of these challenges, if any. */
export async function findConsumers(tx: Tx, challenges: readonly string[]): Promise<Map<string, string>> {
  if (challenges.length === 0) return new Map()
  const rows = await tx.query<{ challenge: string; deviceId: string }>(
    `SELECT challenge, consumed_by AS "deviceId" FROM device_challenges
     WHERE challenge = ANY($1::text[]) AND consumed_by IS NOT NULL`,
    [challenges],
  )
  return new Map(rows.map(({ challenge, deviceId }) => [challenge, deviceId]))
}

const CHALLENGE = `id, challenge, expires_at AS "expiresAt", consumed_by AS "consumedBy"`
