// Turns requests into rows: screenings and their jobs in one transaction. One screening and a batch take the same path.

import { BEYOND_CAP, type Room, UNLIMITED } from '#src/account/usage/caps.ts'
import { Failure, type FieldError } from '#src/failure.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { checkId, newId, newJobId, type Scope } from '#src/platform/ids.ts'
import { enqueue } from '#src/platform/jobs/backlog.ts'
import { holdMedia } from '../media/rows.ts'
import type { ScreenLine } from './requests.ts'
import { insertScreenings, type NewScreening } from './rows.ts'

export interface Source {
  batch?: { id: string; lines: readonly number[] }
  priority: 'interactive' | 'bulk'
  /** What is accepted takes from it. Without it there is no cap. */
  room?: Room
  now: Date
  /** Where a line has the members that a refusal points to. */
  pointers?: typeof POINTERS
}

/** Results in the order of the lines: the screening, or the reasons for the refusal. */
export type ScreeningAcceptance = { screening: NewScreening } | { errors: FieldError[] }

/** The checks of a line that need no rows. */
export function checkLine(line: Partial<ScreenLine>, { environment }: Scope, pointers = POINTERS): FieldError[] {
  const errors: FieldError[] = []
  const check = (pointer: string, id: string | undefined, type: 'med' | 'clm') => {
    try {
      if (id !== undefined) checkId(id, type, environment)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      errors.push({ pointer, code: error.code, detail: error.message })
    }
  }
  check(pointers.media, line.media_id, 'med')
  check(pointers.claim, line.claim_id, 'clm')
  return errors
}

const POINTERS = { media: '/media_id', claim: '/claim_id' }

/**
 * Writes the valid lines. Claims and media stay locked until the transaction ends, so that an erasure sees the new
 * rows.
 */
export async function acceptScreenings(
  tx: Tx,
  scope: Scope,
  lines: readonly ScreenLine[],
  { batch, priority, room = UNLIMITED, now, pointers = POINTERS }: Source,
): Promise<ScreeningAcceptance[]> {
  const claims = await holdClaims(tx, [...new Set(lines.flatMap((line) => line.claim_id ?? []))])
  const held = await holdMedia(tx, [...new Set(lines.map((line) => line.media_id))])
  const media = new Map(held.map((one) => [one.id, one]))
  const verdicts = lines.map((line, index): ScreeningAcceptance => {
    const errors: FieldError[] = []
    const found = media.get(line.media_id)
    if (found === undefined) {
      errors.push({
        pointer: pointers.media,
        code: 'not_found',
        detail: 'names no media: upload it with POST /v1/media first',
      })
    }
    const claim = line.claim_id === undefined ? undefined : claims.get(line.claim_id)
    if (line.claim_id !== undefined && claim === undefined) {
      errors.push({ pointer: pointers.claim, code: 'not_found', detail: 'names no claim' })
    } else if (claim?.isClosed) {
      errors.push({ pointer: pointers.claim, code: 'claim_erased', detail: 'was erased: it takes no more screenings' })
    }
    if (found === undefined || errors.length > 0) return { errors }
    if (room.left === 0) return { errors: [BEYOND_CAP] }
    room.left -= 1
    return {
      screening: {
        id: newId('scr', scope.environment, now.getTime()),
        claimId: line.claim_id ?? null,
        batchId: batch?.id ?? null,
        batchLine: batch?.lines[index] ?? null,
        mediaId: found.id,
        mediaSha256: Buffer.from(found.sha256, 'hex'),
        jobId: newJobId(),
      },
    }
  })
  const rows = verdicts.flatMap((verdict) => ('screening' in verdict ? [verdict.screening] : []))
  if (rows.length > 0) {
    await insertScreenings(tx, scope, rows)
    await enqueue(
      tx,
      'screen',
      scope,
      rows.map(({ id, jobId }) => ({ id: jobId, payload: { screeningId: id }, priority })),
    )
  }
  return verdicts
}

// FOR KEY SHARE conflicts with closing a claim and with nothing else: if the claim closes first, the screening finds it
// closed; if the screening is first, the erasure finds the screening.
async function holdClaims(tx: Tx, ids: readonly string[]): Promise<Map<string, { isClosed: boolean }>> {
  if (ids.length === 0) return new Map()
  const rows = await tx.query<{ id: string; isClosed: boolean }>(
    `SELECT id, erasing_since IS NOT NULL AS "isClosed" FROM claims WHERE id = ANY($1) ORDER BY id FOR KEY SHARE`,
    [ids],
  )
  return new Map(rows.map((row) => [row.id, row]))
}
