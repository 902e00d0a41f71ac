// A slow batch locks no claim: other submissions and settlements for the same claim proceed meanwhile.

import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { acceptInteractive } from '#src/attest/claims/accept-interactive.ts'
import { lockClaims } from '#src/attest/claims/claim-rows.ts'
import { until } from '../../support/until.ts'
import { type BatchAnswer, type Caller, goodLine, type Service, startService } from './service.ts'

let service: Service
let caller: Caller
let mediaId: string
let heldMediaId: string

beforeAll(async () => {
  service = await startService()
  caller = await service.makeCaller()
})
afterAll(() => service.close())
beforeEach(async () => {
  mediaId = await service.makeMedia(caller)
  heldMediaId = await service.makeMedia(caller)
})

const LINES = 520
let references = 0
const makeReference = () => `R-${++references}`
/** More than one round of statements; only the last line needs the row that `stopped` locks. */
const linesOf = (reference: string) =>
  Array.from({ length: LINES }, (_, index) =>
    goodLine(index === LINES - 1 ? heldMediaId : mediaId, { claim: { reference, line: 'auto' } }),
  )
const acceptOne = (reference: string) =>
  service.test.db.tenant(caller, async (tx) => {
    const line = { media_type: 'image' as const, media: { media_id: mediaId }, claim: { reference } }
    const [verdict] = await acceptInteractive(tx, caller, [line], { now: new Date() })
    if (verdict === undefined || 'errors' in verdict) throw new Error(JSON.stringify(verdict))
    return verdict.accepted
  })
const claimsOf = (reference: string) =>
  service.test.owner<{ id: string; attestations: number }>(
    `SELECT id, (SELECT count(*)::int FROM attestations WHERE claim_id = claims.id) AS attestations
     FROM claims WHERE reference = $1`,
    [reference],
  )

/** Submits lines, and does the work while the batch is stopped before its last line. */
async function stopped(lines: ReturnType<typeof linesOf>, work: () => Promise<void>): Promise<BatchAnswer> {
  const holder = new pg.Client({ connectionString: service.test.ownerUrl })
  await holder.connect()
  try {
    await holder.query('BEGIN')
    await holder.query('SELECT FROM media WHERE id = $1 FOR UPDATE', [heldMediaId])
    const submitting = service.submit(caller, lines)
    await until(async () => {
      const [row] = await service.test.owner<{ blocked: number }>(
        `SELECT count(*)::int AS blocked FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
      return row?.blocked === 1
    })
    await work()
    await holder.query('COMMIT')
    return await submitting
  } finally {
    await holder.end()
  }
}

describe('a slow batch', () => {
  it('lets others submit for its claim and lock it', async () => {
    const reference = makeReference()
    const { claimId } = await acceptOne(reference)
    const { json } = await stopped(linesOf(reference), async () => {
      expect((await acceptOne(reference)).claimId).toBe(claimId)
      expect(await service.test.db.tenant(caller, (tx) => lockClaims(tx, [claimId]))).toHaveLength(1)
    })
    expect(json).toMatchObject({ accepted: LINES, rejected: [] })
    expect(await claimsOf(reference)).toEqual([{ id: claimId, attestations: LINES + 2 }])
  })

  it('joins the claim that another caller created meanwhile, and adds what it states', async () => {
    const reference = makeReference()
    let claimId = ''
    const { json } = await stopped(linesOf(reference), async () => {
      ;({ claimId } = await acceptOne(reference))
    })
    expect(json).toMatchObject({ accepted: LINES, rejected: [] })
    expect(await claimsOf(reference)).toEqual([{ id: claimId, attestations: LINES + 1 }])
    const [claim] = await service.test.owner('SELECT line FROM claims WHERE id = $1', [claimId])
    expect(claim).toEqual({ line: 'auto' })
  })

  it('refuses the lines of a claim whose erasure began after the batch did', async () => {
    const reference = makeReference()
    const { claimId } = await acceptOne(reference)
    const lines = [...linesOf(reference).slice(0, -1), goodLine(heldMediaId, { claim: { reference: makeReference() } })]
    const { json } = await stopped(lines, async () => {
      await service.test.owner('UPDATE claims SET erasing_since = now() WHERE id = $1', [claimId])
    })
    expect(json).toMatchObject({ accepted: 1, rejected_count: LINES - 1 })
    expect(json.rejected[0]).toMatchObject({ line: 1, errors: [{ code: 'claim_erased' }] })
    expect(await claimsOf(reference)).toEqual([{ id: claimId, attestations: 1 }])
  })
})

it('a batch of one claim, of many claims and of captures without a claim creates each claim once', async () => {
  const reference = makeReference()
  const before = await service.count('claims')
  const lines = Array.from({ length: 1_200 }, (_, index) => {
    const name = index % 3 === 0 ? reference : index % 3 === 1 ? `${reference} ${index % 200}` : undefined
    return goodLine(mediaId, name === undefined ? {} : { claim: { reference: name, line: `line ${index}` } })
  })
  const { json } = await service.submit(caller, lines)
  expect(json).toMatchObject({ accepted: 1_200, rejected: [] })
  const shared = new Set(lines.flatMap(({ claim }) => (claim as { reference: string } | undefined)?.reference ?? []))
  expect(await service.count('claims')).toBe(before + shared.size + 400)
  const [claim] = await service.test.owner('SELECT line FROM claims WHERE reference = $1', [reference])
  expect(claim).toEqual({ line: 'line 0' })
})
