import { afterAll, beforeAll, expect, it } from 'vitest'
import { findLater } from '#src/attest/duplicates/later-rows.ts'
import { distanceOf } from '#src/attest/duplicates/phash.ts'
import { lockHashed } from '#src/attest/duplicates/rows.ts'
import { createSearch, MAX_MATCHES, MAX_NAMED, RADIUS_BITS, type Searched } from '#src/attest/duplicates/search.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Scope } from '#src/platform/ids.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'
import { readingRows } from '../../support/rows-read.ts'

const OWN = '5a3c96e10f7782d4'

let test: TestDatabase
let scope: Scope
beforeAll(async () => {
  test = await createTestDatabase()
  scope = await makeAccount(test)
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
const LAST = idOf('att', 10 ** 9)

// Referenced rows are left out: Postgres does not check foreign keys in session_replication_role = replica.
async function asReplica(statement: string): Promise<void> {
  await test.owner(`SET session_replication_role = replica; ${statement}; RESET session_replication_role`)
}

async function fillPictures({ accountId, environment }: Scope, hashes: readonly string[]): Promise<void> {
  const values = hashes.map(
    (hash, index) =>
      `('${accountId}', '${environment}', '${idOf('med', index)}', ('x' || '${hash}')::bit(64)::bigint, '')`,
  )
  await asReplica(`INSERT INTO pictures (account_id, environment, media_id, hash, detail) VALUES ${values.join(', ')}`)
}

/** `count` attestations; the claim and the media of each from its number. */
async function fillFingerprints(
  { accountId, environment }: Scope,
  count: number,
  { claim = 'i', media = 'i' }: { claim?: string; media?: string } = {},
): Promise<void> {
  const id = (type: string, number: string) => `'${type}_test_' || lpad((${number})::text, 26, '0')`
  await asReplica(
    `INSERT INTO fingerprints (account_id, environment, attestation_id, claim_id, media_id)
     SELECT '${accountId}', '${environment}', ${id('att', 'i')}, ${id('clm', claim)}, ${id('med', media)}
     FROM generate_series(0, ${count - 1}) AS i`,
  )
}

/** Counts all pictures within reach, as if each were confirmed. */
const searchBy =
  ({ findAlike, findClaims } = createSearch()) =>
  async (tx: Tx, { hash, ...own }: Searched & { hash: string | null }) =>
    findClaims(tx, own, hash === null ? [] : await findAlike(tx, { mediaId: own.mediaId, hash }))
const search = searchBy()

it('finds all hashes within six bits in its own account, the nearest and oldest of other claims first', async () => {
  const hashes = Array.from({ length: 4_000 }, (_, index) =>
    // A fifth is near: up to nine bits away, with the differing bits anywhere.
    flipped(OWN, index % 5 === 0 ? roll(10) : 20 + roll(24)),
  )
  const stranger = await makeAccount(test)
  for (const account of [scope, stranger]) {
    await fillPictures(account, hashes.slice(0, account === scope ? undefined : 300))
    await fillFingerprints(account, account === scope ? hashes.length : 300)
  }
  // Its own claim and its own media do not count as similar; claim 3 has shown the same bytes.
  const own = { attestationId: LAST, claimId: idOf('clm', 0), mediaId: idOf('med', 3), hash: OWN }
  const expected = hashes
    .map((hash, index) => ({
      claimId: idOf('clm', index),
      attestationId: idOf('att', index),
      distanceBits: distanceOf(hash, OWN),
    }))
    .filter(({ distanceBits }, index) => distanceBits <= RADIUS_BITS && index !== 0 && index !== 3)
    .toSorted((a, b) => a.distanceBits - b.distanceBits || (a.attestationId < b.attestationId ? -1 : 1))
  expect(expected.length).toBeGreaterThan(300)
  const found = await test.db.tenant(scope, (tx) => searchBy(createSearch(1_000))(tx, own))
  expect(found).toEqual({
    exactCount: 1,
    similarCount: expected.length,
    findings: [
      { claimId: idOf('clm', 3), attestationId: idOf('att', 3), distanceBits: null },
      ...expected.slice(0, MAX_NAMED),
    ],
    laterMedia: [],
  })
  const sameOnly = await test.db.tenant(scope, (tx) => search(tx, { ...own, hash: null }))
  expect(sameOnly).toMatchObject({ exactCount: 1, similarCount: 0 })
  expect(await test.db.tenant(await makeAccount(test), (tx) => search(tx, own))).toMatchObject({ findings: [] })
})

it('counts claims up to a bound, and says where later attestations are only before it is reached', async () => {
  const account = await makeAccount(test)
  await fillPictures(account, [OWN, flipped(OWN, 2)])
  // Two captures in each of the claims 1 to 200.
  const count = 4 * MAX_MATCHES
  await fillFingerprints(account, count, { claim: 'i / 2 + 1', media: '0' })
  const at = (index: number, claim: number) =>
    test.db.tenant(account, (tx) =>
      search(tx, {
        attestationId: idOf('att', index),
        claimId: idOf('clm', claim),
        mediaId: idOf('med', 0),
        hash: OWN,
      }),
    )
  expect(await at(20, 11)).toMatchObject({ exactCount: 10, similarCount: 0, laterMedia: [idOf('med', 0)] })
  // The first capture of each claim is named, and its own claim is passed over.
  const last = await at(count, 2)
  expect(last.findings.map(({ attestationId }) => attestationId)).toEqual(
    [0, 4, 6, 8, 10, 12, 14, 16, 18, 20].map((index) => idOf('att', index)),
  )
  expect(last.exactCount).toBe(MAX_MATCHES)
  // One more claim than count comes first, in case one of them is the later attestation's own.
  expect((await at(count / 2 + 1, MAX_MATCHES + 1)).laterMedia).toEqual([idOf('med', 0)])
  expect((await at(count / 2 + 3, MAX_MATCHES + 2)).laterMedia).toEqual([])
  // The same claims count as similar for other media, and as one kind only.
  const other = { attestationId: LAST, claimId: 'none', mediaId: idOf('med', 1), hash: flipped(OWN, 0) }
  const similar = await test.db.tenant(account, (tx) => search(tx, other))
  expect(similar).toMatchObject({ exactCount: 0, similarCount: MAX_MATCHES, findings: { length: MAX_NAMED } })
})

it('later attestations know of a claim as soon as one of its captures is compared', async () => {
  const account = await makeAccount(test)
  await fillFingerprints(account, 3, { claim: 'i / 2', media: '0' })
  const second = { attestationId: idOf('att', 1), claimId: idOf('clm', 0), mediaId: idOf('med', 0), hash: null }
  const laterOf = async () => (await test.db.tenant(account, (tx) => search(tx, second))).laterMedia
  const setFirst = (values: string) =>
    test.owner(`UPDATE fingerprints SET ${values} WHERE account_id = $1 AND attestation_id = $2`, [
      account.accountId,
      idOf('att', 0),
    ])
  expect(await laterOf()).toEqual([second.mediaId])
  // It has looked for the same bytes alone.
  await setFirst(`state = 'compared', not_comparable = 'failed'`)
  expect(await laterOf()).toEqual([second.mediaId])
  await setFirst('not_comparable = NULL')
  expect(await laterOf()).toEqual([])
})

it.each([
  ['many captures of each', undefined],
  // The planner knows all accounts together: where most photos have few captures, reading and sorting all of one seems cheap.
  ['a dozen captures of each', 'i / 12'],
  ['one capture of each', 'i'],
])(
  'reads one entry of an index for a claim, however many captures of a photo it has, beside photos with %s',
  async (_, media) => {
    const account = await makeAccount(test)
    const count = 5_000
    await test.owner('TRUNCATE fingerprints, pictures, duplicate_findings')
    if (media !== undefined) await fillFingerprints(await makeAccount(test), 20_000, { media })
    await fillPictures(account, [OWN, flipped(OWN, 2)])
    // Claim 0 has two photos that look alike, and claim 1 one capture of each.
    await fillFingerprints(account, count, { claim: `CASE WHEN i < 2 THEN 1 ELSE 0 END`, media: 'i % 2' })
    await test.owner('ANALYZE fingerprints, pictures')
    await test.owner(`UPDATE fingerprints SET state = 'compared' WHERE account_id = $1 AND attestation_id < $2`, [
      account.accountId,
      idOf('att', 10),
    ])
    const own = {
      attestationId: idOf('att', 4_000),
      claimId: idOf('clm', 0),
      mediaId: idOf('med', 0),
      hash: OWN,
    }
    for (const claimId of [own.claimId, idOf('clm', 7)]) {
      const { most } = await readingRows(test.db, account, 'fingerprints', (tx) => search(tx, { ...own, claimId }))
      expect(most).toBeLessThan(50)
    }
    expect(await test.db.tenant(account, (tx) => search(tx, own))).toMatchObject({ exactCount: 1, similarCount: 0 })
  },
)

it('one claim with most captures of a photo does not hide from its others that it is shown elsewhere', async () => {
  const account = await makeAccount(test)
  const count = MAX_MATCHES + MAX_MATCHES / 2
  await fillFingerprints(account, count, { claim: `CASE WHEN i < ${count - 2} THEN 1 ELSE i END`, media: '0' })
  const own = { attestationId: idOf('att', count - 2), claimId: idOf('clm', count - 2), mediaId: idOf('med', 0) }
  // A later capture of claim 1 has no other claim to name but this one.
  expect(await test.db.tenant(account, (tx) => search(tx, { ...own, hash: null }))).toMatchObject({
    exactCount: 1,
    laterMedia: [idOf('med', 0)],
  })
})

it.each([0, 1_000, 20_000])('no statement of a comparison reads a whole table of %i rows', async (count) => {
  const account = await makeAccount(test)
  await test.owner('TRUNCATE fingerprints, pictures, duplicate_findings')
  if (count > 0) {
    await fillPictures(
      account,
      Array.from({ length: count / 10 }, () => flipped(OWN, roll(32))),
    )
    await fillFingerprints(account, count, { media: `i % ${count / 10}` })
  }
  const own = { attestationId: idOf('att', 500), claimId: idOf('clm', 500), mediaId: idOf('med', 0), hash: OWN }
  const statements = {
    search: (tx: Tx) => search(tx, own),
    'search of the same bytes': (tx: Tx) => search(tx, { ...own, hash: null }),
    later: (tx: Tx) =>
      findLater(tx, account, { ...own, media: [own.mediaId] }, { after: own.attestationId, limit: 1_000 }),
    lock: (tx: Tx) => lockHashed(tx, own.attestationId),
  }
  // As the first executions of a prepared statement are planned, and as the later ones are.
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    for (const [name, run] of Object.entries(statements)) {
      const nodes = await test.db.tenant(account, async (tx) => {
        await tx.adhoc(`SET LOCAL plan_cache_mode = ${mode}`)
        return planOf(tx, run)
      })
      expect([mode, name, nodes.filter((node) => node.includes('Seq Scan'))]).toEqual([mode, name, []])
      expect(nodes.join()).toContain('fingerprints')
    }
  }
})

/** Each node of the plan of the statement that `run` sends, with its table. */
async function planOf(tx: Tx, run: (tx: Tx) => Promise<unknown>): Promise<string[]> {
  interface Node {
    'Node Type': string
    'Relation Name'?: string
    Plans?: Node[]
  }
  const nodes: string[] = []
  const walk = (node: Node) => {
    nodes.push(`${node['Node Type']} ${node['Relation Name'] ?? ''}`)
    for (const child of node.Plans ?? []) walk(child)
  }
  let prepared = 0
  const explain: Tx['query'] = async (text, values = []) => {
    prepared += 1
    const name = `explained_${prepared}`
    await tx.adhoc(`PREPARE ${name} AS ${text}`)
    const given = values.map((value) => literal(value)).join(', ')
    const [row] = await tx.adhoc<{ 'QUERY PLAN': { Plan: Node }[] }>(`EXPLAIN (FORMAT JSON) EXECUTE ${name} (${given})`)
    await tx.adhoc(`DEALLOCATE ${name}`)
    walk(row?.['QUERY PLAN'][0]?.Plan ?? expect.fail('no plan'))
    return []
  }
  await run({ ...tx, query: explain, adhoc: explain }).catch(() => {})
  return nodes
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `'{${value.join(',')}}'`
  return typeof value === 'number' ? String(value) : `'${value}'`
}
