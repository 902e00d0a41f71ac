import { describe, expect, it } from 'vitest'
import {
  type ApprovalFacts,
  approvalFactsOf,
  approvedRulesOf,
  coveredRules,
  mergeRules,
  missingVotes,
} from '#src/authorize/approvals/facts.ts'
import { previewOf } from '#src/authorize/approvals/preview.ts'
import type { ApprovalRow } from '#src/authorize/approvals/rows.ts'
import { compilePolicy } from '#src/authorize/policy/compile.ts'
import { documentSchema } from '#src/authorize/policy/document.ts'
import type { JsonObject } from '#src/platform/crypto/canonical.ts'

const rule = (id: string, approval: object, more: object = {}) => ({ id, require: { approval }, ...more })
const policyOf = (...rules: object[]) => compilePolicy(documentSchema.parse({ rules }))
const AT = new Date('2026-11-22T12:00:00.000Z')

describe('the merge of several rules', () => {
  it('takes the largest number, the roles of all, the shortest time, and a passkey where one rule wants it', () => {
    const { rules } = policyOf(
      rule('a', { min_approvals: 3, roles: ['approver'], ttl_seconds: 900 }),
      rule('b', { min_approvals: 1, roles: ['owner'], ttl_seconds: 60, require_passkey: true }),
    )
    expect(mergeRules(rules)).toEqual({
      min_approvals: 3,
      roles: ['approver', 'owner'],
      ttl_seconds: 60,
      require_passkey: true,
    })
    expect(mergeRules(policyOf(rule('a', {})).rules)).toEqual({
      min_approvals: 1,
      roles: ['admin', 'approver', 'owner'],
      ttl_seconds: 3600,
      require_passkey: false,
    })
    expect(() => mergeRules(policyOf({ id: 'd', require: { deny: true } }).rules)).toThrow()
  })

  it('is never easier than one of the rules: each has its own number of its own roles', () => {
    const { rules } = policyOf(
      rule('a', { min_approvals: 2, roles: ['approver'] }),
      rule('b', { min_approvals: 1, roles: ['owner'] }),
    )
    const merged = mergeRules(rules)
    const row = { minApprovals: merged.min_approvals, roles: merged.roles, rules: approvedRulesOf(rules) }
    const left = (...roles: string[]) =>
      missingVotes(
        row,
        roles.map((role, n) => ({ userId: `u${n}`, role })),
      )
    expect(left('approver', 'approver')).toEqual([{ roles: ['owner'], approvals: 1 }])
    expect(left('owner', 'approver')).toEqual([{ roles: ['approver'], approvals: 1 }])
    expect(left('owner', 'owner')).toEqual([{ roles: ['approver'], approvals: 2 }])
    expect(left('approver', 'approver', 'owner')).toEqual([])
    expect(left()).toEqual([
      { roles: ['approver', 'owner'], approvals: 2 },
      { roles: ['approver'], approvals: 2 },
      { roles: ['owner'], approvals: 1 },
    ])
  })

  it('counts a person once, and nobody whose role is another one by now', () => {
    const rules = approvedRulesOf(policyOf(rule('a', { min_approvals: 2 })).rules)
    const row = { minApprovals: 2, roles: ['owner', 'admin', 'approver'] as ApprovalRow['roles'], rules }
    const vote = (userId: string, role = 'approver') => ({ userId, role })
    expect(missingVotes(row, [vote('a'), vote('a')])[0]?.approvals).toBe(1)
    expect(missingVotes(row, [vote('a'), vote('b', 'analyst')])[0]?.approvals).toBe(1)
    expect(missingVotes(row, [vote('a'), vote('b')])).toEqual([])
  })
})

const approved = (rules: ApprovalFacts['rules'], status: ApprovalFacts['status'] = 'approved'): ApprovalFacts => ({
  approval_id: 'apr_test_1',
  origin: 'authorize',
  status,
  rules,
  expires_at: AT.toISOString(),
  decided_at: AT.toISOString(),
  usable_until: AT.toISOString(),
})

describe('an approval covers', () => {
  const policy = policyOf(rule('a', {}), rule('b', {}), { id: 'c', require: { deny: true } })
  const keptOf = (from = policy) =>
    approvedRulesOf(from.rules).map(({ rule_id, rule_hash }) => ({ rule_id, rule_hash }))

  it('its rules as they were, whatever else of the policy changes', () => {
    expect(coveredRules([approved(keptOf())], policy)).toEqual({ a: 'covered', b: 'covered' })
    const wider = policyOf(rule('a', {}), rule('b', {}), { id: 'z', require: { deny: true } })
    expect(coveredRules([approved(keptOf())], wider)).toEqual({ a: 'covered', b: 'covered' })
    const stricter = policyOf(rule('a', { min_approvals: 2 }), rule('b', {}))
    expect(coveredRules([approved(keptOf())], stricter)).toEqual({ b: 'covered' })
  })

  it('nothing by another id, and nothing of a rule that demands no approval', () => {
    const renamed = policyOf(rule('other', {}))
    expect(coveredRules([approved(keptOf())], renamed)).toEqual({})
    expect(policy.rules.map(({ id, hash }) => [id, hash === undefined])).toEqual([
      ['a', false],
      ['b', false],
      ['c', true],
    ])
  })

  it('nothing unless it is approved; two approvals cover together', () => {
    for (const status of ['pending', 'denied', 'expired', 'cancelled'] as const) {
      expect(coveredRules([approved(keptOf(), status)], policy)).toEqual({})
    }
    const [a = { rule_id: '', rule_hash: '' }, b = a] = keptOf()
    expect(coveredRules([approved([a]), { ...approved([b]), origin: 'verify' }], policy)).toEqual({
      a: 'covered',
      b: 'covered',
    })
  })
})

describe('the facts of an approval', () => {
  const row = {
    id: 'apr_test_1',
    origin: 'authorize',
    rules: [{ rule_id: 'a', rule_hash: 'h', min_approvals: 1, roles: ['owner'] }],
    tokenTtlSeconds: 300,
    expiresAt: AT,
    outcome: null,
    decidedAt: null,
  } as unknown as ApprovalRow

  it('say by the time that is given whether it has expired', () => {
    const status = (at: Date, more: Partial<ApprovalRow> = {}) => approvalFactsOf({ ...row, ...more }, at).status
    expect(status(new Date(AT.getTime() - 1))).toBe('pending')
    expect(status(AT)).toBe('expired')
    expect(status(new Date(AT.getTime() + 1), { outcome: 'denied', decidedAt: AT })).toBe('denied')
  })

  it('say until when an approved token may be used, and of no other one', () => {
    const decidedAt = new Date('2026-11-22T11:00:00.000Z')
    expect(approvalFactsOf({ ...row, outcome: 'approved', decidedAt }, AT)).toEqual({
      approval_id: 'apr_test_1',
      origin: 'authorize',
      status: 'approved',
      rules: [{ rule_id: 'a', rule_hash: 'h' }],
      expires_at: AT.toISOString(),
      decided_at: decidedAt.toISOString(),
      usable_until: '2026-11-22T11:05:00.000Z',
    })
    expect(approvalFactsOf({ ...row, outcome: 'denied', decidedAt }, AT).usable_until).toBeNull()
    expect(approvalFactsOf(row, AT)).toMatchObject({ decided_at: null, usable_until: null })
  })
})

describe('the preview of a payload', () => {
  it('shows what is short and plain', () => {
    const payload = { amount: '12000.00', currency: 'EUR', express: true, note: null, lines: [{ sku: 'A', count: 2 }] }
    expect(previewOf(payload)).toEqual(payload)
  })

  it.each([
    'password',
    'apiKey',
    'api_key',
    'access-token',
    'client_secret',
    'IBAN',
    'cardNumber',
    'card_number',
    'accountNo',
    'account_number',
    'cvv',
    'PIN',
    'Authorization',
    'dateOfBirth',
    'ssn',
    'privateKey',
  ])('masks the member %s, whatever its value is', (name) => {
    for (const value of ['x', 7, { deep: 'x' }, ['x']])
      expect(previewOf({ [name]: value })).toEqual({ [name]: '[redacted]' })
  })

  it.each(['shipping', 'spinning', 'company', 'panel', 'authorName', 'public_key', 'key', 'number', 'otpional'])(
    'shows the member %s',
    (name) => expect(previewOf({ [name]: 'x' })).toEqual({ [name]: 'x' }),
  )

  it('masks what looks like a secret or the number of a card, by its value', () => {
    const texts = [
      '4111 1111 1111 1111',
      '4111-1111-1111-1111',
      'svc_live_abc',
      'eyJhbGciOiJ.x',
      'Bearer abc',
      'sk_live_1',
    ]
    for (const text of texts) expect(previewOf({ a: [text] })).toEqual({ a: ['[redacted]'] })
    expect(previewOf({ a: 4111111111111111 })).toEqual({ a: '[redacted]' })
    expect(previewOf({ a: '2026-11-22', b: '+49 30 1234567', c: 1732233600 })).toEqual({
      a: '2026-11-22',
      b: '+49 30 1234567',
      c: 1732233600,
    })
  })

  it('is bounded in depth, number and length, and says what it left out', () => {
    const deep = { a: { b: { c: { d: { e: 1 } } } } }
    expect(previewOf(deep)).toEqual({ a: { b: { c: { d: '[omitted]' } } } })
    const wide = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`k${String(n).padStart(4, '0')}`, n]))
    expect(Object.keys(previewOf(wide))).toHaveLength(61)
    expect(previewOf({ a: Array.from({ length: 40 }, (_, n) => n) })).toEqual({ a: [...Array(10).keys(), '[omitted]'] })
    const text = previewOf({ a: 'x'.repeat(5_000) }).a as string
    expect(text).toBe(`${'x'.repeat(80)}…`)
    // Half of a character is none.
    const emoji = previewOf({ a: `${'x'.repeat(79)}😀y` }).a as string
    expect(emoji).toBe(`${'x'.repeat(79)}…`)
    let nested: JsonObject = { n: 'x'.repeat(1_000) }
    for (let level = 0; level < 30; level += 1) nested = { [`a${'y'.repeat(200)}`]: nested, b: [nested, nested] }
    expect(JSON.stringify(previewOf(nested)).length).toBeLessThan(16_000)
  })

  it('is the same for the same members in another order', () => {
    expect(JSON.stringify(previewOf({ b: 1, a: { d: 1, c: 2 } }))).toBe(
      JSON.stringify(previewOf({ a: { c: 2, d: 1 }, b: 1 })),
    )
  })

  it('takes names of built-in members as names', () => {
    const payload = JSON.parse('{"__proto__": {"a": 1}, "constructor": "x"}')
    expect(JSON.stringify(previewOf(payload))).toBe('{"__proto__":{"a":1},"constructor":"x"}')
  })
})
