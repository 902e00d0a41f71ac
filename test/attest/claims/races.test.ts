// Concurrent requests: one external id is one submission, one reference one claim, one nonce one capture. Concurrent jobs:
// no capture waits while many others are verified.

import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Acceptance } from '#src/attest/claims/accept.ts'
import { type ClaimRow, lockClaims } from '#src/attest/claims/claim-rows.ts'
import type { BatchLine } from '#src/attest/claims/submission.ts'
import { newId } from '#src/platform/ids.ts'
import { decodeBase64 } from '#src/platform/owned-bytes.ts'
import { until } from '../../support/until.ts'
import { acceptBatch } from './bulk.ts'
import { attestFixture, codesOf, evidenceOf, makeMedia, makePhone, PHOTO, type Phone, shoot } from './phone.ts'
import type { Caller, Service } from './service.ts'

let service: Service
let caller: Caller
let phone: Phone
let mediaId: string

beforeAll(async () => {
  ;({ service, caller, phone } = await attestFixture())
  mediaId = await makeMedia(service, caller)
})
afterAll(() => service.close())

const CONCURRENCY = 12
const concurrently = <Value>(make: (index: number) => Promise<Value>) =>
  Promise.all(Array.from({ length: CONCURRENCY }, (_, index) => make(index)))
const bare = (more: Partial<BatchLine> = {}): BatchLine => ({
  media_type: 'image',
  media: { media_id: mediaId },
  ...more,
})
const nameOf = () => `name-${randomBytes(6).toString('hex')}`
const accept = (bodies: BatchLine[], options: { committing?: () => Promise<void> } = {}) =>
  acceptBatch(service.test.db, caller, bodies, options)
const idOf = (verdict: Acceptance | undefined) =>
  verdict !== undefined && 'accepted' in verdict ? verdict.accepted.attestationId : undefined
const counts = async () => ({
  attestations: await service.count('attestations'),
  claims: await service.count('claims'),
  jobs: await service.count('jobs'),
})
type Counts = Awaited<ReturnType<typeof counts>>
const grownBy = async (before: Counts): Promise<Counts> => {
  const now = await counts()
  return {
    attestations: now.attestations - before.attestations,
    claims: now.claims - before.claims,
    jobs: now.jobs - before.jobs,
  }
}

describe('one external id', () => {
  it('with the same content creates one attestation, one claim and one job', async () => {
    const before = await counts()
    const body = bare({ external_id: nameOf() })
    const answers = await concurrently(() => service.attest(caller, body))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202))
    expect(new Set(answers.map(({ json }) => json.attestation_id)).size).toBe(1)
    expect(new Set(answers.map(({ json }) => json.claim_id)).size).toBe(1)
    expect(await grownBy(before)).toEqual({ attestations: 1, claims: 1, jobs: 1 })
  })

  it('consumes its nonce once, however often it is sent', async () => {
    const [session] = (await service.captures.issue(caller, { count: 1 })).sessions
    const body = shoot(phone, {
      externalId: nameOf(),
      sessionNonce: session?.session_nonce,
      media: { media_id: mediaId },
    })
    const [first] = await concurrently(() => service.attest(caller, body))
    const id = String(first?.json.attestation_id)
    await service.run(id)
    const { json } = await service.call(caller, `/v1/attestations/${id}`)
    expect(codesOf(json)).toEqual(['hardware_backing_absent'])
  })

  it('with different contents belongs to the first; the others create no claim and add nothing to one', async () => {
    const before = await counts()
    const external_id = nameOf()
    const reference = nameOf()
    const answers = await concurrently((index) =>
      service.attest(caller, bare({ external_id, claim: { reference, loss_location: { lat: index, lng: index } } })),
    )
    const won = answers.findIndex(({ status }) => status === 202)
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1)
    for (const { status, json } of answers.toSpliced(won, 1)) {
      expect([status, json.errors?.[0]?.pointer, json.errors?.[0]?.code]).toEqual([
        409,
        '/external_id',
        'external_id_reused',
      ])
    }
    expect(await grownBy(before)).toEqual({ attestations: 1, claims: 1, jobs: 1 })
    const { json } = await service.call(caller, `/v1/claims?reference=${reference}`)
    expect(json.data).toMatchObject([{ loss_location: { lat: won, lng: won } }])
  })

  it('that an open transaction has inserted is waited for', async () => {
    const external_id = nameOf()
    const before = await counts()
    let commit = () => {}
    const held = new Promise<void>((done) => {
      commit = done
    })
    let isWritten = false
    const first = accept([bare({ external_id })], {
      committing: async () => {
        isWritten = true
        await held
      },
    })
    await until(() => isWritten)
    const second = service.attest(caller, bare({ external_id }))
    const other = service.attest(caller, bare({ external_id, claim: { line: 'auto' } }))
    const [kept, taken, conflicting] = [
      bare({ external_id: nameOf() }),
      bare({ external_id }),
      bare({ external_id, claim: { line: 'x' } }),
    ]
    const batch = accept([kept, taken, bare()])
    const refused = accept([conflicting, bare()])
    await until(async () => {
      const [row] = await service.test.owner<{ count: number }>(
        `SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
      )
      return row?.count === 4
    })
    commit()
    const id = idOf((await first)[0])
    expect((await second).json.attestation_id).toBe(id)
    expect((await other).status).toBe(409)
    expect((await batch).map(idOf)).toEqual([expect.stringMatching(/^att_/), id, expect.stringMatching(/^att_/)])
    expect(await refused).toMatchObject([
      { errors: [{ pointer: '/external_id', code: 'external_id_reused' }] },
      { accepted: {} },
    ])
    expect(await grownBy(before)).toEqual({ attestations: 4, claims: 4, jobs: 4 })
  })

  it('is free again when its first transaction is rolled back', async () => {
    const external_id = nameOf()
    await expect(
      accept([bare({ external_id })], { committing: () => Promise.reject(new Error('power cut')) }),
    ).rejects.toThrow('power cut')
    expect((await service.attest(caller, bare({ external_id, claim: { line: 'auto' } }))).status).toBe(202)
  })

  it('twice in one call is one submission, at the position of the first', async () => {
    const [name, other] = [nameOf(), nameOf()]
    const verdicts = await accept([
      bare({ external_id: name }),
      bare({ external_id: other }),
      bare({ external_id: name }),
      bare({ external_id: name, claim: { line: 'auto' } }),
    ])
    expect(verdicts).toMatchObject([
      { accepted: { isRepeat: false } },
      { accepted: { isRepeat: false } },
      { errors: [{ code: 'duplicate_line' }] },
      { errors: [{ code: 'external_id_reused' }] },
    ])
    const again = await accept([bare({ external_id: name }), bare({ external_id: name })])
    expect(again.map(idOf)).toEqual([idOf(verdicts[0]), idOf(verdicts[0])])
  })
})

describe('one claim reference', () => {
  it('creates one claim, whichever request comes first', async () => {
    const before = await counts()
    const reference = nameOf()
    const answers = await concurrently(() => service.attest(caller, bare({ claim: { reference } })))
    expect(new Set(answers.map(({ json }) => json.claim_id)).size).toBe(1)
    expect(await grownBy(before)).toEqual({ attestations: CONCURRENCY, claims: 1, jobs: CONCURRENCY })
  })

  it('belongs to one account', async () => {
    const other = await service.makeCaller()
    const reference = nameOf()
    const media = { content_type: 'image/jpeg', data: PHOTO.toString('base64') }
    const [ours, theirs] = await Promise.all(
      [caller, other].map((one) => service.attest(one, { media_type: 'image', media, claim: { reference } })),
    )
    expect(ours?.json.claim_id).not.toBe(theirs?.json.claim_id)
  })

  it('and external ids in opposite orders don’t deadlock', async () => {
    for (let round = 0; round < 10; round += 1) {
      const run = nameOf()
      const lines = Array.from({ length: 60 }, (_, index) =>
        bare({ external_id: `${run} ${index % 40}`, claim: { reference: `${run} ${(index % 40) % 7}` } }),
      )
      const before = await counts()
      // Without a retry: a deadlock would be an error here.
      const all = await Promise.all(
        [lines, lines.toReversed(), lines.slice(30), lines.slice(0, 50).toReversed()].map((one) => accept(one)),
      )
      for (const verdicts of all)
        expect(verdicts.map((verdict) => 'accepted' in verdict || verdict.errors[0]?.code)).not.toContain(
          'external_id_reused',
        )
      expect(await grownBy(before)).toEqual({ attestations: 40, claims: 7, jobs: 40 })
    }
  })
})

describe('concurrent submissions', () => {
  it('share transactions, and each gets its own answer', async () => {
    const references = Array.from({ length: CONCURRENCY }, nameOf)
    const answers = await concurrently((index) =>
      service.claims.attest(caller, bare({ external_id: nameOf(), claim: { reference: references[index] } }), {
        bytesOf: decodeBase64,
        waitSeconds: 0,
        signal: new AbortController().signal,
      }),
    )
    const rows = await service.test.owner<{ id: string; reference: string; transaction: string }>(
      `SELECT a.id, c.reference, a.xmin::text AS transaction FROM attestations a JOIN claims c ON c.id = a.claim_id
       WHERE c.reference = ANY($1)`,
      [references],
    )
    const byId = new Map(rows.map(({ id, reference }) => [id, reference]))
    expect(answers.map(({ id }) => byId.get(id))).toEqual(references)
    expect(new Set(rows.map(({ transaction }) => transaction)).size).toBeLessThan(CONCURRENCY)
  })

  it('succeed beside one that is refused', async () => {
    const before = await counts()
    const reference = nameOf()
    const unknown = { media_id: newId('med', caller.environment) }
    const answers = await concurrently((index) => {
      const claim = { reference: `${reference} ${index}` }
      if (index === 3) return service.attest(caller, bare({ claim, media: unknown }))
      if (index === 7) return service.attest(caller, bare({ claim, media_type: 'video' }))
      return service.attest(caller, bare({ claim }))
    })
    expect(answers.map(({ status }) => status)).toEqual(
      answers.map((_, index) => (index === 3 ? 404 : index === 7 ? 400 : 202)),
    )
    expect(await grownBy(before)).toEqual({
      attestations: CONCURRENCY - 2,
      claims: CONCURRENCY - 2,
      jobs: CONCURRENCY - 2,
    })
  })

  it('may use the external id of a refused one', async () => {
    const external_id = nameOf()
    const wrong = bare({ external_id, media: { media_id: newId('med', caller.environment) } })
    const answers = await concurrently((index) => service.attest(caller, index === 0 ? wrong : bare({ external_id })))
    expect(answers.map(({ status }) => status)).toEqual(answers.map((_, index) => (index === 0 ? 404 : 202)))
    expect(new Set(answers.slice(1).map(({ json }) => json.attestation_id)).size).toBe(1)
  })

  it('lock claims in the same order as settlements do', async () => {
    const ids: string[] = []
    for (const reference of [`z ${nameOf()}`, `a ${nameOf()}`])
      ids.push(String((await service.attest(caller, bare({ claim: { reference } }))).json.claim_id))
    let settling: Promise<ClaimRow[]> | undefined
    await service.test.db.tenant(caller, async (tx) => {
      const lock = (id: string | undefined) => tx.query('SELECT id FROM claims WHERE id = $1 FOR UPDATE', [id])
      // In the order of submissions: by reference.
      await lock(ids[1])
      settling = service.test.db.tenant(caller, (other) => lockClaims(other, ids))
      await until(async () => {
        const [row] = await service.test.owner<{ count: number }>(
          `SELECT count(*)::int AS count FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
        )
        return row?.count === 1
      })
      await lock(ids[0])
    })
    expect((await settling)?.map(({ id }) => id)).toEqual(ids.toReversed())
  })
})

describe('one nonce', () => {
  it('is accepted once; the other submissions are told which one used it', async () => {
    const [session] = (await service.captures.issue(caller, { count: 1 })).sessions
    const bodies = Array.from({ length: CONCURRENCY }, () =>
      shoot(phone, { sessionNonce: session?.session_nonce, media: { media_id: mediaId } }),
    )
    const answers = await Promise.all(bodies.map((body) => service.attest(caller, body)))
    const ids = answers.map(({ json }) => String(json.attestation_id))
    await Promise.all(ids.map((id) => service.run(id)))
    const results = await Promise.all(
      ids.map(async (id) => (await service.call(caller, `/v1/attestations/${id}`)).json),
    )
    const replays = results.filter((json) => codesOf(json).includes('session_nonce_mismatch'))
    const [winner] = results.filter((json) => !replays.includes(json))
    expect(replays).toHaveLength(CONCURRENCY - 1)
    for (const json of replays) {
      expect(evidenceOf(json, 'session_nonce_mismatch')).toMatchObject({
        found: ['reused'],
        used_by: winner?.attestation_id,
      })
      expect(json).toMatchObject({ provenance_status: 'broken', risk_score: 110 })
    }
  })

  it('that was never issued, of another account or of another device raises a factor, not an error', async () => {
    const other = await service.makeCaller()
    const theirs = (await service.captures.issue(other, { count: 1 })).sessions[0]?.session_nonce
    const own = (await service.captures.issue(caller, { count: 1, device_id: (await makePhone(service, caller)).id }))
      .sessions[0]
    const cases = [
      [theirs, ['unknown']],
      [randomBytes(32).toString('base64url'), ['unknown']],
      ['not a nonce at all', ['unknown']],
      [own?.session_nonce, ['other_device']],
    ] as const
    for (const [sessionNonce, found] of cases) {
      const json = await service.judge(caller, shoot(phone, { sessionNonce }))
      expect(evidenceOf(json, 'session_nonce_mismatch').found).toEqual(found)
    }
    // A refused use does not consume another account's nonce.
    const [row] = await service.test.owner<{ consumed_by: string | null }>(
      'SELECT consumed_by FROM capture_sessions WHERE nonce = $1',
      [theirs],
    )
    expect(row?.consumed_by).toBeNull()
  })

  it('used outside of its validity raises a factor, and is consumed', async () => {
    const [session] = (await service.captures.issue(caller, { count: 1 })).sessions
    const late = shoot(phone, { sessionNonce: session?.session_nonce, capturedAt: new Date(Date.now() - 3_600_000) })
    expect(evidenceOf(await service.judge(caller, late), 'session_nonce_mismatch').found).toEqual(['out_of_time'])
    const inTime = shoot(phone, { sessionNonce: session?.session_nonce })
    expect(evidenceOf(await service.judge(caller, inTime), 'session_nonce_mismatch').found).toEqual(['reused'])
  })

  it('of the other environment is not an error and counts as unknown', async () => {
    const live = { accountId: caller.accountId, environment: 'live' as const }
    const [session] = (await service.captures.issue(live, { count: 1 })).sessions
    const json = await service.judge(caller, shoot(phone, { sessionNonce: session?.session_nonce }))
    expect(evidenceOf(json, 'session_nonce_mismatch').found).toEqual(['unknown'])
  })
})

it('captures that were loaded together are verified in turns of the event loop, one in each', async () => {
  const ids = await concurrently(async () =>
    String((await service.attest(caller, shoot(phone, { claim: { reference: nameOf() } }))).json.attestation_id),
  )
  let inTurn = 0
  let most = 0
  let verified = 0
  const work = service.makeVerify({
    // Read once for each capture, when its verification begins.
    revocations: async () => {
      inTurn += 1
      most = Math.max(most, inTurn)
      verified += 1
      return 'off'
    },
  })
  let isOver = false
  const turns = async () => {
    while (!isOver) {
      await new Promise(setImmediate)
      inTurn = 0
    }
  }
  const counting = turns()
  await Promise.all(ids.map((id) => service.run(id, work)))
  isOver = true
  await counting
  expect([verified, most]).toEqual([CONCURRENCY, 1])
})
