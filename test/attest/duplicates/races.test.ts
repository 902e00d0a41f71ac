// Comparisons and erasures that run at the same time, with rows of their own and the real handler. Pictures are not
// decoded: the hash of each media follows from its bytes.

import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type CompareDeps, createCompare } from '#src/attest/duplicates/compare.ts'
import { DETAIL_SIDE } from '#src/attest/duplicates/detail.ts'
import { distanceOf } from '#src/attest/duplicates/phash.ts'
import { eraseFingerprints, insertFingerprints } from '#src/attest/duplicates/rows.ts'
import { MAX_NAMED, RADIUS_BITS } from '#src/attest/duplicates/search.ts'
import { unreferencedPictures } from '#src/attest/duplicates/unreferenced.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'
import { createJobs, type Jobs } from '../../support/jobs.ts'
import { until } from '../../support/until.ts'

interface Shown {
  id: string
  claim: number
  media: number
}

const MAX_MATCHES = 12

let test: TestDatabase
let jobs: Jobs<'compare'>
let scope: Scope
/** The hash of each media by its number; null: not comparable. */
let hashes: (string | null)[]
/** Media that are another picture than those with nearly the same hash. */
let others: Set<number>
let hashed: number

beforeAll(async () => {
  test = await createTestDatabase()
  jobs = createJobs(test, 'compare')
})
afterAll(() => test?.close())
beforeEach(async () => {
  scope = await makeAccount(test)
  hashed = 0
  others = new Set()
})

const idOf = (type: string, number: number) => `${type}_test_${String(number).padStart(26, '0')}`

let made = 0
/** Attestations of the claims and media that `shown` names, evaluated and without fingerprints. */
async function makeAttestations(shown: readonly Omit<Shown, 'id'>[]): Promise<Shown[]> {
  const { accountId, environment } = scope
  const values = (rows: string[]) => rows.map((row) => `('${accountId}', '${environment}', ${row})`).join(', ')
  const numbers = (key: 'claim' | 'media') => [...new Set(shown.map((one) => one[key]))]
  const first = made
  made += shown.length
  // No id twice: jobs are found by it.
  const attestations = shown.map((one, index) => ({ ...one, id: idOf('att', first + index) }))
  await test.owner(`SET session_replication_role = replica;
    INSERT INTO media (account_id, environment, id, sha256, size, content_type) VALUES ${values(
      numbers('media').map((media) => `'${idOf('med', media)}', decode('${shaOf(media)}', 'hex'), 1, 'image/jpeg'`),
    )};
    INSERT INTO claims (account_id, environment, id) VALUES ${values(numbers('claim').map((claim) => `'${idOf('clm', claim)}'`))};
    INSERT INTO attestations (account_id, environment, id, claim_id, media_id, content_digest, submission, job_id)
    VALUES ${values(
      attestations.map(
        ({ id, claim, media }) =>
          `'${id}', '${idOf('clm', claim)}', '${idOf('med', media)}', '', '{}', gen_random_uuid()`,
      ),
    )};
    RESET session_replication_role`)
  return attestations
}

const RAMP = Uint8Array.from({ length: DETAIL_SIDE ** 2 }, (_, cell) => 4 * (cell % DETAIL_SIDE))
/** Of other pictures, a band at a place of its own. */
const detailOf = (sha256: string) => {
  const media = Number.parseInt(sha256, 16)
  return others.has(media) ? RAMP.map((grey, cell) => (cell >> 9 === media % 8 ? 255 : grey)) : RAMP
}
const shaOf = (media: number) => media.toString(16).padStart(64, '0')
const settle = (one: Pick<Shown, 'id'>) =>
  test.db.tenant(scope, (tx) => insertFingerprints(tx, scope, [{ attestationId: one.id }]))
const erase = (tx: Tx, one: Pick<Shown, 'id'>) => eraseFingerprints(tx, scope, [one.id])

const makeCompare = (deps: Partial<CompareDeps> = {}) =>
  createCompare({
    db: test.db,
    store: { withLocalFile: (_scope, sha256, read) => read(sha256), exists: async () => true },
    hasher: {
      async hash(sha256) {
        hashed += 1
        const hash = hashes[Number.parseInt(sha256, 16)]
        return { ok: true, value: { hash: hash ?? '', contrast: hash == null ? 0 : 50, detail: detailOf(sha256) } }
      },
    },
    maxMatches: MAX_MATCHES,
    ...deps,
  })

async function compareNow({ id }: Pick<Shown, 'id'>, work = makeCompare()) {
  const [job = ''] = await jobs.of(id)
  return jobs.run(await jobs.take(job), work)
}

interface Row {
  id: string
  state: string
  exact: number
  similar: number
  findings: { id: string; claim: string; bits: number | null }[]
}

function read(): Promise<Row[]> {
  return test.owner<Row>(
    `SELECT attestation_id AS id, state, exact_count AS exact, similar_count AS similar, coalesce((
       SELECT jsonb_agg(jsonb_build_object('id', other_attestation_id, 'claim', other_claim_id, 'bits', distance_bits)
         ORDER BY distance_bits NULLS FIRST, other_attestation_id)
       FROM duplicate_findings d WHERE d.attestation_id = f.attestation_id AND d.account_id = f.account_id), '[]') AS findings
     FROM fingerprints f WHERE account_id = $1 ORDER BY 1`,
    [scope.accountId],
  )
}

async function countPictures(): Promise<number> {
  const [row] = await test.owner<{ count: number }>(
    'SELECT count(*)::int AS count FROM pictures WHERE account_id = $1',
    [scope.accountId],
  )
  return row?.count ?? Number.NaN
}

/** What one comparison after the other, oldest first, would find. */
function expectedOf(shown: readonly Shown[]): Row[] {
  return shown.map((own, index) => {
    const earlier = shown.slice(0, index).filter(({ claim }) => claim !== own.claim)
    const exact = claimsOf(
      earlier.filter(({ media }) => media === own.media),
      () => 0,
    )
    const bitsTo = (media: number) => {
      const [one, other] = [hashes[own.media], hashes[media]]
      const isOther = others.has(media) || others.has(own.media)
      return one == null || other == null || media === own.media || isOther ? 64 : distanceOf(one, other)
    }
    const alike = claimsOf(
      earlier.filter(({ media }) => bitsTo(media) <= RADIUS_BITS),
      ({ media }) => bitsTo(media),
    ).filter(({ claim }) => !exact.some((one) => one.claim === claim))
    const similar = nearestOf(alike, ({ media }) => bitsTo(media))
    return {
      id: own.id,
      state: 'compared',
      exact: exact.length,
      similar: similar.length,
      findings: [...nearestOf(exact, () => null).slice(0, MAX_NAMED), ...similar.slice(0, MAX_NAMED)],
    }
  })
}

/** The oldest of each media and claim, up to as many as count: of the nearest media, of the claims with the lowest ids. */
function claimsOf(shown: readonly Shown[], bitsOf: (one: Shown) => number): Shown[] {
  const oldest = new Map(shown.toReversed().map((one) => [`${one.media} ${one.claim}`, one]))
  return [...oldest.values()]
    .toSorted((a, b) => bitsOf(a) - bitsOf(b) || a.media - b.media || a.claim - b.claim)
    .slice(0, MAX_MATCHES)
}

function nearestOf(shown: readonly Shown[], bitsOf: (one: Shown) => number | null): Row['findings'] {
  const sorted = shown
    .map((one) => ({ id: one.id, claim: idOf('clm', one.claim), bits: bitsOf(one) }))
    .toSorted((a, b) => (a.bits ?? 0) - (b.bits ?? 0) || (a.id < b.id ? -1 : 1))
  return [...new Map(sorted.toReversed().map((one) => [one.claim, one])).values()].toSorted(
    (a, b) => (a.bits ?? 0) - (b.bits ?? 0) || (a.id < b.id ? -1 : 1),
  )
}

/** A database whose transaction number `which` does not commit before `release`. */
function holding(which: number): { db: Database; isHeld: Promise<void>; release(): void } {
  const [held, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let transactions = 0
  const db: Database = {
    ...test.db,
    tenant: (to, work, options) => {
      transactions += 1
      const isIt = transactions === which
      return test.db.tenant(
        to,
        async (tx) => {
          const result = await work(tx)
          if (isIt) {
            held.resolve()
            await free.promise
          }
          return result
        },
        options,
      )
    },
  }
  return { db, isHeld: held.promise, release: () => free.resolve() }
}

async function isWaiting(query: string): Promise<boolean> {
  const rows = await test.owner(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1`,
    [`${query}%`],
  )
  return rows.length > 0
}

describe('comparisons in any order, and at the same time', () => {
  // The generator of Numerical Recipes, so that a failure can be repeated.
  const rollFrom = (seed: number) => {
    let state = seed
    return (below: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((state / 2 ** 32) * below)
    }
  }

  it.each([1, 2, 3, 4, 5, 6])('find what one after the other would (seed %i)', async (seed) => {
    const roll = rollFrom(seed)
    // Few pictures, so that their attestations exceed what a search reads; half of them look like the first.
    hashes = Array.from({ length: 6 }, (_, media) => {
      const base = media < 4 ? 0n : BigInt(roll(2 ** 31)) << 32n
      return media === 5 ? null : (base ^ BigInt(roll(4))).toString(16).padStart(16, '0')
    })
    others = new Set(seed % 3 === 0 ? [1, 2] : [])
    const hot = roll(6)
    const shown = await makeAttestations(
      Array.from({ length: 60 }, () => ({ claim: roll(seed % 2 === 0 ? 60 : 12), media: roll(3) > 0 ? hot : roll(6) })),
    )
    const waiting = [...shown]
    // What is evaluated late was accepted early, or anywhere.
    const takeOne = () => waiting.splice(roll(3) === 0 ? 0 : roll(waiting.length), 1)[0]
    const work = [makeCompare(), makeCompare()]
    // Each job is run once: a job taken from another loop would end that loop's run as stale.
    const running = new Set<string>()
    const runOne = async () => {
      const due = await test.owner<{ id: string }>(
        `SELECT id FROM jobs WHERE queue = 'compare' AND state = 'queued' AND run_at <= now() AND account_id = $1`,
        [scope.accountId],
      )
      const free = due.filter((job) => !running.has(job.id))
      const { id } = free[roll(free.length)] ?? {}
      if (id === undefined) return due.length > 0
      running.add(id)
      await jobs.run(await jobs.take(id), work[roll(2)] ?? makeCompare())
      running.delete(id)
      return true
    }
    const loop = async () => {
      for (;;) {
        const next = roll(2) === 0 ? takeOne() : undefined
        if (next !== undefined) await settle(next)
        if (!(await runOne()) && waiting.length === 0) return
      }
    }
    await Promise.all([loop(), loop(), loop(), loop()])
    // What waited for a lock is due later.
    for (let left = 1; left > 0; ) {
      await jobs.hurry()
      await jobs.drain(makeCompare(), scope)
      const [row] = await test.owner<{ left: number }>(
        `SELECT count(*)::int AS left FROM fingerprints WHERE account_id = $1 AND state <> 'compared'`,
        [scope.accountId],
      )
      left = row?.left ?? 0
    }
    expect(await read()).toEqual(expectedOf(shown))
  })

  it('are at most two for each attestation and one at a time, in whatever order the results of an upload come', async () => {
    const roll = rollFrom(7)
    hashes = Array.from({ length: 3 }, (_, media) => BigInt(media).toString(16).padStart(16, '0'))
    const shown = await makeAttestations(Array.from({ length: 40 }, (_, claim) => ({ claim, media: roll(3) })))
    const waiting = [...shown]
    const running = new Set<string>()
    let mostAtOnce = 0
    /** Jobs that were to run at once when they were queued. */
    const takeDue = async () => {
      const due = await test.owner<{ id: string }>(
        `SELECT id FROM jobs WHERE queue = 'compare' AND state = 'queued' AND account_id = $1
           AND run_at < created_at + interval '1 second'`,
        [scope.accountId],
      )
      return due.find(({ id }) => !running.has(id))?.id
    }
    const mostOf = async (where: string) => {
      const [row] = await test.owner<{ most: number }>(
        `SELECT coalesce(max(count), 0)::int AS most FROM (SELECT count(*) AS count FROM jobs
           WHERE queue = 'compare' AND account_id = $1 AND ${where} GROUP BY payload ->> 'attestationId') AS counts`,
        [scope.accountId],
      )
      return row?.most ?? Number.NaN
    }
    const loop = async () => {
      for (;;) {
        const [next] = waiting.splice(roll(waiting.length), 1)
        if (next !== undefined) await settle(next)
        for (let id = await takeDue(); id !== undefined; id = await takeDue()) {
          running.add(id)
          await jobs.run(await jobs.take(id), makeCompare())
          running.delete(id)
          mostAtOnce = Math.max(mostAtOnce, await mostOf(`state IN ('queued', 'dispatched')`))
        }
        if (next === undefined) return
      }
    }
    await Promise.all([loop(), loop(), loop(), loop()])
    await jobs.hurry()
    await jobs.drain(makeCompare(), scope)
    expect([mostAtOnce, await mostOf('true')]).toEqual([1, 2])
    expect(await read()).toEqual(expectedOf(shown))
  })

  it('miss no pair when the earlier one appears while the later one is compared', async () => {
    hashes = ['00000000000000aa', '00000000000000ab']
    for (const media of [0, 1]) {
      scope = await makeAccount(test)
      const [earlier, later] = await makeAttestations([
        { claim: 1, media },
        { claim: 2, media: 0 },
      ])
      if (earlier === undefined || later === undefined) return expect.fail()
      await settle(later)
      // It finds the media without a hash, loads them, stores the hash, and compares.
      const { db, isHeld, release } = holding(4)
      const comparing = compareNow(later, makeCompare({ db }))
      await isHeld
      await settle(earlier)
      const other = compareNow(earlier)
      await until(() => isWaiting('SELECT FROM fingerprints WHERE attestation_id = ANY')).finally(release)
      expect([await comparing, await other]).toEqual(['settled', 'settled'])
      expect((await read()).map(({ state }) => state)).toEqual(['compared', 'recheck'])
      await jobs.hurry()
      await jobs.drain(makeCompare(), scope)
      expect((await read())[1]).toMatchObject({ state: 'compared', findings: [{ id: earlier.id }] })
    }
  })

  it('queue all later ones again, and none once enough earlier claims are known', async () => {
    hashes = ['00000000000000aa']
    const shown = await makeAttestations(Array.from({ length: 2_100 }, (_, index) => ({ claim: index, media: 0 })))
    const [first, second] = shown
    if (first === undefined || second === undefined) return expect.fail()
    await settle(second)
    await jobs.drain(makeCompare(), scope)
    await test.owner(
      `SET session_replication_role = replica;
       INSERT INTO fingerprints (account_id, environment, attestation_id, claim_id, media_id, state)
       SELECT account_id, environment, id, claim_id, media_id, 'compared' FROM attestations
       WHERE account_id = '${scope.accountId}' AND id > '${second.id}';
       RESET session_replication_role`,
    )
    const statesOf = async () => Object.groupBy(await read(), ({ state }) => state)
    await settle(first)
    await compareNow(first)
    expect((await statesOf()).recheck).toHaveLength(2_099)
    const lastJob = (await jobs.of(shown.at(-1)?.id ?? '')).length
    expect(lastJob).toBe(1)
    // One with enough earlier claims: it is compared anew, and nothing else changes.
    await test.owner(`UPDATE fingerprints SET state = 'compared' WHERE account_id = $1`, [scope.accountId])
    const late = shown[MAX_MATCHES * 2] ?? expect.fail()
    await test.db.tenant(scope, (tx) => erase(tx, late))
    await settle(late)
    expect(await compareNow(late)).toBe('settled')
    expect(await statesOf()).toMatchObject({ compared: { length: 2_100 } })
  })
})

describe('the hash of a photo', () => {
  beforeEach(() => {
    hashes = ['00000000000000aa', '00000000000000ab']
  })
  const compareAll = () => jobs.drain(makeCompare(), scope)

  it('is made once for all attestations that show it, and deleted with the last of them', async () => {
    const shown = await makeAttestations([1, 2, 3].map((claim) => ({ claim, media: 0 })))
    for (const one of shown) await settle(one)
    await compareAll()
    expect([hashed, await countPictures()]).toEqual([1, 1])
    for (const [index, one] of shown.entries()) {
      await test.db.tenant(scope, (tx) => erase(tx, one))
      expect(await countPictures()).toBe(index < 2 ? 1 : 0)
    }
  })

  it('is deleted when two erasures delete its last two attestations at the same time', async () => {
    const [one, other] = await makeAttestations([1, 2].map((claim) => ({ claim, media: 0 })))
    if (one === undefined || other === undefined) return expect.fail()
    for (const shown of [one, other]) await settle(shown)
    await compareNow(one)
    const { db, isHeld, release } = holding(1)
    const first = db.tenant(scope, (tx) => erase(tx, one))
    await isHeld
    const second = test.db.tenant(scope, (tx) => erase(tx, other))
    await until(() => isWaiting('SELECT FROM pictures')).finally(release)
    await Promise.all([first, second])
    expect(await countPictures()).toBe(0)
  })

  it('is made again when an erasure deleted it during the comparison', async () => {
    // In one claim, so that the comparison does not wait for the fingerprint that is erased.
    const [erased, kept, alike] = await makeAttestations([
      { claim: 1, media: 0 },
      { claim: 1, media: 0 },
      { claim: 3, media: 1 },
    ])
    if (erased === undefined || kept === undefined || alike === undefined) return expect.fail()
    await settle(erased)
    await compareAll()
    const { db, isHeld, release } = holding(1)
    const erasing = db.tenant(scope, (tx) => erase(tx, erased))
    await isHeld
    // The erasure has deleted the picture, for it did not see this one.
    await settle(kept)
    const comparing = compareNow(kept)
    await until(() => isWaiting('SELECT FROM pictures')).finally(release)
    await erasing
    expect(await comparing).toBe('settled')
    expect([hashed, await countPictures()]).toEqual([2, 1])
    await settle(alike)
    await compareAll()
    expect((await read()).at(-1)).toMatchObject({ findings: [{ id: kept.id, bits: 1 }] })
  })

  it('is not stored for a photo that was erased while it was read', async () => {
    const [one] = await makeAttestations([{ claim: 1, media: 0 }])
    if (one === undefined) return expect.fail()
    await settle(one)
    const erasing = makeCompare({
      hasher: {
        async hash() {
          await test.db.tenant(scope, (tx) => erase(tx, one))
          return { ok: true, value: { hash: '00000000000000aa', contrast: 50, detail: RAMP } }
        },
      },
    })
    expect(await compareNow(one, erasing)).toBe('defer')
    await jobs.hurry()
    expect(await compareNow(one)).toBe('done')
    expect(await countPictures()).toBe(0)
  })

  it('is deleted by retention when nothing shows it', async () => {
    const shown = await makeAttestations([1, 2].map((claim) => ({ claim, media: claim - 1 })))
    for (const one of shown) await settle(one)
    await compareAll()
    const rule = unreferencedPictures({ db: test.db })
    const { signal } = new AbortController()
    const purge = () => (rule.per === 'tenant' ? rule.purge(scope, new Date(), signal) : expect.fail())
    expect([await purge(), await countPictures()]).toEqual([0, 2])
    const client = new pg.Client({ connectionString: test.ownerUrl })
    await client.connect()
    await client.query('DELETE FROM fingerprints WHERE attestation_id = $1 AND account_id = $2', [
      shown[0]?.id,
      scope.accountId,
    ])
    await client.end()
    expect([await purge(), await countPictures()]).toEqual([1, 1])
  })
})
