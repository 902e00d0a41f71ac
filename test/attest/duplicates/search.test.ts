import { afterAll, beforeAll, expect, it } from 'vitest'
import { distanceOf } from '#src/attest/duplicates/phash.ts'
import { findSameMedia, findSimilar, MAX_MATCHES, RADIUS_BITS } from '#src/attest/duplicates/search.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'

const ROWS = 4_000
const OWN = '5a3c96e10f7782d4'

let test: TestDatabase
let scope: Scope
let stranger: Scope
beforeAll(async () => {
  test = await createTestDatabase()
  scope = await makeAccount(test)
  stranger = await makeAccount(test)
})
afterAll(() => test?.close())

// A seeded generator, so that a failure can be repeated.
let state = 20_261_121
function roll(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((state / 2 ** 32) * below)
}

function flipped(hash: string, count: number): string {
  const bits = new Set<number>()
  while (bits.size < count) bits.add(roll(64))
  const mask = [...bits].reduce((sum, bit) => sum | (1n << BigInt(bit)), 0n)
  return (BigInt(`0x${hash}`) ^ mask).toString(16).padStart(16, '0')
}

const idOf = (type: string, number: number) => `${type}_test_${String(number).padStart(26, '0')}`

async function fill({ accountId, environment }: Scope, hashes: readonly string[], media = (index: number) => index) {
  // Referenced rows are left out: Postgres does not check foreign keys in session_replication_role = replica.
  const values = hashes.map(
    (hash, index) =>
      `('${accountId}', '${environment}', '${idOf('att', index)}', '${idOf('clm', index)}', '${idOf('med', media(index))}',
        'hashed', ('x' || '${hash}')::bit(64)::bigint)`,
  )
  await test.owner(
    `SET session_replication_role = replica;
     INSERT INTO fingerprints (account_id, environment, attestation_id, claim_id, media_id, state, hash)
     VALUES ${values.join(', ')};
     RESET session_replication_role`,
  )
}

it('the search finds all hashes within six bits in its own account, with one index probe each', async () => {
  const hashes = Array.from({ length: ROWS }, (_, index) =>
    // A third is near: up to nine bits away, with the differing bits anywhere.
    flipped(OWN, index % 3 === 0 ? roll(10) : 20 + roll(24)),
  )
  await fill(scope, hashes)
  await fill(stranger, hashes.slice(0, 300))
  const own = { claimId: idOf('clm', 0), mediaId: idOf('med', 3), hash: OWN }
  const expected = hashes.flatMap((hash, index) => {
    const distanceBits = distanceOf(hash, OWN)
    if (distanceBits > RADIUS_BITS || index === 0 || index === 3) return []
    return [{ attestationId: idOf('att', index), claimId: idOf('clm', index), distanceBits }]
  })
  expect(expected.length).toBeGreaterThan(500)
  const found = await test.db.tenant(scope, (tx) => findSimilar(tx, own))
  expect(found.toSorted((a, b) => (a.attestationId < b.attestationId ? -1 : 1))).toEqual(expected)

  // A scan of the table for each probe would touch forty thousand pages.
  const far = { ...own, hash: flipped(OWN, 32) }
  expect(await pagesOf((tx) => findSimilar(tx, far))).toBeLessThan(2_000)
})

it('the search finds the same bytes before and after, up to a bound on each side', async () => {
  const account = await makeAccount(test)
  const count = 2 * MAX_MATCHES + 500
  await fill(account, new Array(count).fill(OWN), () => 7)
  const at = MAX_MATCHES + 200
  const own = { attestationId: idOf('att', at), claimId: idOf('clm', at), mediaId: idOf('med', 7) }
  const found = await test.db.tenant(account, (tx) => findSameMedia(tx, own))
  const ids = found.map(({ attestationId }) => attestationId)
  expect(ids.filter((id) => id < own.attestationId)).toEqual(
    Array.from({ length: MAX_MATCHES }, (_, index) => idOf('att', index)),
  )
  expect(ids.filter((id) => id > own.attestationId)).toEqual(
    Array.from({ length: MAX_MATCHES }, (_, index) => idOf('att', at + 1 + index)),
  )
  expect(await test.db.tenant(await makeAccount(test), (tx) => findSameMedia(tx, own))).toEqual([])
  // More than a thousand equal pictures cost no more than the bound.
  const similar = await test.db.tenant(account, (tx) =>
    findSimilar(tx, { claimId: 'none', mediaId: 'none', hash: OWN }),
  )
  expect(similar.length).toBeLessThanOrEqual(3 * MAX_MATCHES)
  expect(similar.length).toBeGreaterThanOrEqual(MAX_MATCHES)
})

async function pagesOf(search: (tx: Tx) => Promise<unknown>): Promise<number> {
  let pages = 0
  await test.db.tenant(scope, async (tx) => {
    const explain: Tx['query'] = async (text, values) => {
      const [row] = await tx.adhoc<{
        'QUERY PLAN': { Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }[]
      }>(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values)
      const plan = row?.['QUERY PLAN'][0]?.Plan
      pages += (plan?.['Shared Hit Blocks'] ?? Number.NaN) + (plan?.['Shared Read Blocks'] ?? 0)
      return []
    }
    await search({ query: explain, adhoc: explain })
  })
  return pages
}
