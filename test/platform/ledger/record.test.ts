import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sha256, sha256Base64url } from '#src/platform/crypto/digest.ts'
import { createSealer } from '#src/platform/crypto/seal.ts'
import type { Scope } from '#src/platform/ids.ts'
import type { NewDecision } from '#src/platform/ledger/record.ts'
import { createLedger, SEALED_FACTS } from '#src/platform/ledger/record.ts'
import { createTestDatabase, makeAccount, type TestDatabase } from '../../support/database.ts'

const sealer = createSealer({ current: { id: 'k', key: Buffer.alloc(32, 1) } })
const AT = new Date('2026-11-22T10:00:00.000Z')
const DECISION: NewDecision = {
  kind: 'verify',
  at: AT,
  actor: { id: 'key_test_1', person: null, keyId: 'key_test_1' },
  subject: 'jti_test_1',
  reason: 'action_hash_mismatch',
  valid: false,
  inputs: { action_hash: sha256Base64url('a') },
  policyVersion: 3,
  ruleResults: [{ rule_id: 'r1', effect: 'deny', matched: true, met: false, shadow: false, note: 'n' }],
  facts: { amount: '10.00', context: {} },
}

describe('a decision on the ledger', () => {
  let database: TestDatabase
  let scope: Scope
  const ledgerOf = () => createLedger({ sealer, db: database.db })
  const record = (...decisions: NewDecision[]) =>
    database.db.tenant(scope, (tx) => ledgerOf().recordMany(tx, scope, decisions))
  const rowsOf = <Row extends object>(table: string, key: string, id: string) =>
    database.owner<Row & Record<string, unknown>>(`SELECT * FROM ${table} WHERE ${key} = $1`, [id])

  beforeAll(async () => {
    database = await createTestDatabase()
    scope = await makeAccount(database)
  })
  afterAll(() => database?.close())

  it('is stored as the text that was hashed, with the columns that are searched', async () => {
    const [id = ''] = await record(DECISION)
    const [row] = await rowsOf<{ entry: string; entry_sha256: Buffer }>('decisions', 'id', id)
    expect(row).toMatchObject({ kind: 'verify', at: AT, reason: 'action_hash_mismatch', jti: 'jti_test_1' })
    expect(row?.entry_sha256).toEqual(sha256(row?.entry ?? ''))
    expect(JSON.parse(row?.entry ?? '')).toEqual({
      decision_id: id,
      kind: 'verify',
      environment: 'sandbox',
      at: AT.toISOString(),
      actor: { actor_id: 'key_test_1', person: null, api_key_id: 'key_test_1' },
      subject_id: 'jti_test_1',
      reason: 'action_hash_mismatch',
      valid: false,
      inputs: { action_hash: sha256Base64url('a') },
      matched_rule_id: null,
      policy_version: 3,
      rule_results: DECISION.ruleResults,
      facts_hash: expect.stringMatching(/^[\w-]{43}$/),
    })
    expect(await rowsOf('ledger_pending', 'decision_id', id)).toMatchObject([{ entry_sha256: row?.entry_sha256 }])
  })

  it('has its facts sealed and salted, and their hash in the entry', async () => {
    const { facts: _, ...withoutFacts } = DECISION
    const [first = '', second = '', without = ''] = await record(DECISION, DECISION, withoutFacts)
    const hashes = await Promise.all(
      [first, second, without].map(async (id) => {
        const [row] = await rowsOf<{ entry: string }>('decisions', 'id', id)
        return JSON.parse(row?.entry ?? '').facts_hash as string | null
      }),
    )
    expect(new Set(hashes).size).toBe(3)
    expect(hashes[2]).toBeNull()
    const [sealed] = await rowsOf<{ sealed_facts: Buffer }>('decision_facts', 'decision_id', first)
    const text = sealer.open(sealed?.sealed_facts ?? Buffer.alloc(0), SEALED_FACTS.use({ decision_id: first }))
    expect(sha256Base64url(text)).toBe(hashes[0])
    expect(await database.db.tenant(scope, (tx) => ledgerOf().readFacts(tx, first))).toEqual(DECISION.facts)
    expect(await database.db.tenant(scope, (tx) => ledgerOf().readFacts(tx, without))).toBeUndefined()
  })

  it('goes with the transaction that it is part of', async () => {
    const failed = database.db.tenant(scope, async (tx) => {
      await ledgerOf().record(tx, scope, { ...DECISION, id: 'dec_test_rolled' })
      throw new Error('rolled back')
    })
    await expect(failed).rejects.toThrow('rolled back')
    expect(await rowsOf('decisions', 'id', 'dec_test_rolled')).toEqual([])
    expect(await rowsOf('ledger_pending', 'decision_id', 'dec_test_rolled')).toEqual([])
  })

  it('is listed with its facts, oldest first, by kind and time', async () => {
    const other = await makeAccount(database)
    const decisions = Array.from({ length: 450 }, (_, index) => ({
      ...DECISION,
      kind: index % 2 === 0 ? ('verify' as const) : ('authorize' as const),
      at: new Date(AT.getTime() + index * 60_000),
      facts: { index },
    }))
    await database.db.tenant(other, (tx) => ledgerOf().recordMany(tx, other, decisions))
    const listed: unknown[] = []
    const range = { kind: 'verify', from: decisions[3]?.at, to: decisions[440]?.at } as const
    for await (const { entry, facts } of ledgerOf().listDecisionsBetween(other, range)) {
      expect(entry.kind).toBe('verify')
      listed.push((facts() as { index: number }).index)
    }
    expect(listed).toEqual(Array.from({ length: 218 }, (_, index) => 4 + 2 * index))
  })

  it('can be changed or deleted by no request', async () => {
    const [id = ''] = await record(DECISION)
    for (const statement of [
      `UPDATE decisions SET reason = NULL WHERE id = '${id}'`,
      `DELETE FROM decisions WHERE id = '${id}'`,
      `DELETE FROM decision_facts WHERE decision_id = '${id}'`,
      `DELETE FROM ledger_pending WHERE decision_id = '${id}'`,
      `INSERT INTO ledger_leaves SELECT account_id, environment, 0, entry_sha256, decision_id FROM ledger_pending`,
    ]) {
      const attempt = database.db.tenant(scope, (tx) => tx.adhoc(statement))
      await expect(attempt, statement).rejects.toMatchObject({ code: '42501' })
    }
  })
})
