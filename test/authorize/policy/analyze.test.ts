import { describe, expect, it } from 'vitest'
import { type TeamRoles, unreachableApprovals } from '#src/authorize/policy/analyze.ts'
import type { PolicyCondition } from '#src/authorize/policy/document.ts'
import { analysisOf } from './analysis.ts'
import { documentOf } from './policy-vectors.ts'

const is = (field: string, op: string, value?: unknown) => ({ field, op, value }) as PolicyCondition
const x = (op: string, value?: unknown) => is('context.x', op, value)
const rule = (id: string, when: unknown, members: object = {}) => ({ id, when, require: { deny: true }, ...members })
const findingsOf = (...rules: object[]) =>
  analysisOf(documentOf({ rules })).map(({ code, rule_id, other_rule_id }) =>
    [code, rule_id, other_rule_id].filter((one) => one !== undefined).join(' '),
  )

describe('never_matches', () => {
  it.each<[string, unknown]>([
    ['any of nothing', { any: [] }],
    ['an empty range of numbers', { all: [x('gt', 5), x('lte', 5)] }],
    ['a range between two decimals', { all: [x('gt', '0.1'), x('lt', '0.10000000000000000001'), x('eq', 0.2)] }],
    ['two texts at once', { all: [x('eq', 'a'), x('eq', 'b')] }],
    ['a text that a list excludes', { all: [x('in', ['a', 'b']), x('not_in', ['b', 'a'])] }],
    ['a text with another beginning', { all: [x('starts_with', 'ab'), x('in', ['b', 'xab'])] }],
    ['two beginnings', { all: [x('starts_with', 'ab'), x('starts_with', 'b')] }],
    ['a text that the pattern refuses', { all: [x('eq', 'abc'), x('matches', '^b')] }],
    ['a field that is there and is not', { all: [x('exists', false), x('eq', 1)] }],
    ['an hour after the last', is('time.hour', 'gt', 23)],
    ['a tier that does not exist', is('device.tier', 'eq', 'gold')],
    ['a condition and its opposite', { all: [x('exists'), { not: x('exists') }] }],
    ['the description missing', is('action_description', 'exists', false)],
  ])('is found for %s', (_, when) => {
    expect(findingsOf(rule('r', when))).toContain('never_matches r')
  })

  it.each<[string, unknown]>([
    ['a point', { all: [x('gte', 5), x('lte', '5.0')] }],
    ['a number and the text of it', { all: [x('eq', '5'), x('gt', 4)] }],
    ['fields of one path', { all: [is('context.a', 'exists'), is('context.a.b', 'exists', false)] }],
    ['a text of two patterns', { all: [x('matches', 'a'), x('matches', 'b')] }],
    ['not of a missing field', { all: [{ not: x('eq', 1) }, x('exists', false)] }],
    [
      'two hours in two zones',
      { all: [is('time.hour', 'eq', 1), { ...is('time.hour', 'eq', 2), timezone: 'Asia/Tokyo' }] },
    ],
  ])('is not found for %s', (_, when) => {
    expect(findingsOf(rule('r', when))).not.toContain('never_matches r')
  })
})

describe('always_denies', () => {
  it.each<[string, unknown]>([
    ['all of nothing', { all: [] }],
    ['both sides of a field', { any: [x('exists'), x('exists', false)] }],
    [
      'not of what never holds',
      { not: { all: [is('token.biometric', 'eq', true), is('token.biometric', 'eq', false)] } },
    ],
    ['every hour', is('time.hour', 'between', [0, 23])],
    ['both flags', { any: [is('token.biometric', 'eq', true), is('token.biometric', 'ne', true)] }],
    ['every tier', is('device.tier', 'in', ['none', 'software', 'tee', 'strongbox', 'secure_enclave'])],
  ])('is found for %s', (_, when) => {
    expect(findingsOf(rule('r', when))).toEqual(['always_denies r'])
  })

  it.each<[string, unknown]>([
    // A missing field makes both comparisons false.
    ['both sides of a number', { any: [x('gt', 5), x('lte', 5)] }],
    ['a text and not that text', { any: [x('eq', 'a'), x('ne', 'a')] }],
    ['most hours', is('time.hour', 'between', [0, 22])],
  ])('is not found for %s', (_, when) => {
    expect(findingsOf(rule('r', when))).toEqual([])
  })

  it('counts a missing field as a match where the rule does', () => {
    const when = { any: [x('gt', 5), x('lte', 5)] }
    expect(findingsOf(rule('r', when, { on_missing: 'match' }))).toEqual(['always_denies r'])
    expect(findingsOf(rule('r', when, { on_missing: 'match', shadow: true }))).toEqual([])
  })
})

describe('shadowed_by', () => {
  const wire = is('action_type', 'eq', 'wire')
  const over = (amount: number) => ({ all: [wire, x('gt', amount)] })

  it('is found where an earlier rule refuses whatever the later one does', () => {
    expect(findingsOf(rule('a', over(10)), rule('b', over(20)))).toEqual(['shadowed_by b a'])
    expect(findingsOf(rule('b', over(10)), rule('a', over(20)))).toEqual([])
    expect(findingsOf(rule('b', over(10), { priority: 1 }), rule('a', over(20)))).toEqual(['shadowed_by a b'])
    const biometric = { require: { biometric: true } }
    expect(findingsOf(rule('z', wire, { priority: 9_000 }), rule('a', over(1), biometric))).toEqual(['shadowed_by a z'])
    const fromHome = { all: [wire, is('device.id', 'eq', 'home')] }
    expect(findingsOf(rule('a', wire, biometric), rule('b', fromHome, biometric))).toEqual(['shadowed_by b a'])
    // Where the amount has a wrong type, the later rule refuses what has a biometric.
    expect(findingsOf(rule('a', wire, biometric), rule('b', over(1), biometric))).toEqual([])
    const asks = is('context.require_biometric', 'eq', true)
    expect(findingsOf(rule('a', asks, biometric))).toEqual(['shadowed_by a default:biometric_flag'])
  })

  it('is not found where the earlier one asks for less, is a shadow or may fail to match', () => {
    const tier = (min_tier: string) => ({ require: { min_tier } })
    expect(findingsOf(rule('a', wire, tier('tee')), rule('b', wire, tier('strongbox')))).toEqual([])
    expect(findingsOf(rule('a', wire, tier('strongbox')), rule('b', wire, tier('tee')))).toEqual(['shadowed_by b a'])
    expect(findingsOf(rule('a', wire, { shadow: true }), rule('b', over(1)))).toEqual([])
    expect(findingsOf(rule('a', is('action_type', 'in', ['card'])), rule('b', over(1)))).toEqual([])
    // A value of a wrong type makes the later rule refuse, and not the earlier one.
    expect(findingsOf(rule('a', x('exists')), rule('b', x('gt', 1)))).toEqual(['shadowed_by b a'])
    expect(findingsOf(rule('a', { any: [x('lte', 1), x('gt', 1)] }), rule('b', x('contains', 'a')))).toEqual([
      'shadowed_by b a',
    ])
    expect(findingsOf(rule('a', x('eq', 1)), rule('b', x('in', [1, 2])))).toEqual([])
    const hook = (url: string) => ({ require: { webhook: { url } } })
    expect(findingsOf(rule('a', wire, hook('https://a.example')), rule('b', wire, hook('https://a.example')))).toEqual(
      [],
    )
  })
})

describe('other findings', () => {
  it('conflicts_with: one priority and two reasons, or two modes of one set, with facts that prove it', () => {
    const [a, b] = [rule('a', x('gt', 10), { reason: 'big' }), rule('b', x('lt', 20), { reason: 'small' })]
    expect(findingsOf(a, b)).toEqual(['conflicts_with b a'])
    expect(findingsOf(a, { ...b, priority: 99 })).toEqual([])
    expect(findingsOf(a, { ...b, reason: 'big' })).toEqual([])
    expect(findingsOf(a, rule('b', x('lt', 5), { reason: 'small' }))).toEqual([])
    const canary = (mode: string) => ({ require: { canary: { set: 's', mode } } })
    const [strict, loose] = [rule('a', x('gt', 1), canary('strict')), rule('b', x('exists'), canary('best_effort'))]
    expect(findingsOf(strict, loose)).toEqual(['conflicts_with b a'])
  })

  it('unreachable_approval: fewer members than the rule wants have one of its roles', () => {
    const found = (approval: object, team: TeamRoles, more: object = {}) => {
      const document = documentOf({ rules: [{ id: 'a', require: { approval }, ...more }] })
      return unreachableApprovals(document, team).map(({ code, rule_id, pointer }) => `${code} ${rule_id} ${pointer}`)
    }
    const finding = ['unreachable_approval a /rules/0/require/approval']
    expect(found({}, {})).toEqual(finding)
    expect(found({}, { analyst: 3, developer: 2 })).toEqual(finding)
    expect(found({}, { owner: 1 })).toEqual([])
    expect(found({ roles: ['approver'] }, { owner: 1, admin: 4 })).toEqual(finding)
    expect(found({ min_approvals: 3 }, { owner: 1, approver: 1 })).toEqual(finding)
    expect(found({ min_approvals: 3 }, { owner: 1, approver: 1, admin: 1 })).toEqual([])
    // A role that is named twice is not two people.
    expect(found({ min_approvals: 2, roles: ['owner', 'owner'] }, { owner: 1 })).toEqual(finding)
    expect(found({}, {}, { enabled: false })).toEqual([])
    expect(findingsOf(rule('a', x('gt', 1), { require: { approval: {} } }))).toEqual([])
  })

  it('ineffective: disabled, always met, or beside a denial', () => {
    expect(findingsOf(rule('a', x('gt', 1), { enabled: false }))).toEqual(['ineffective a'])
    expect(findingsOf(rule('a', x('gt', 1), { require: { min_tier: 'none' } }))).toEqual(['ineffective a'])
    expect(findingsOf(rule('a', x('gt', 1), { require: { hardware: true, min_tier: 'tee' } }))).toEqual([
      'ineffective a',
    ])
    expect(findingsOf(rule('a', x('gt', 1), { require: { hardware: true, min_tier: 'strongbox' } }))).toEqual([])
    expect(findingsOf(rule('a', x('gt', 1), { require: { deny: true, biometric: true } }))).toEqual(['ineffective a'])
    const bound = is('token.biometric', 'eq', true)
    expect(findingsOf(rule('a', bound, { require: { biometric: true } }))).toEqual(['ineffective a'])
  })

  it('gives up quietly where there are too many cases', () => {
    const wide = {
      all: Array.from({ length: 10 }, (_, n) => ({
        any: [is(`context.a${n}`, 'eq', 1), is(`context.b${n}`, 'eq', 1)],
      })),
    }
    expect(findingsOf(rule('a', wide), rule('b', wide))).toEqual([])
  })
})
