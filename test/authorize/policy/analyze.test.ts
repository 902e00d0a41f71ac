import { describe, expect, it } from 'vitest'
import { type TeamRoles, unreachableApprovals } from '#src/authorize/policy/analyze.ts'
import type { PolicyCondition } from '#src/authorize/policy/document.ts'
import { analysisOf } from './analysis.ts'
import { documentOf } from './policy-vectors.ts'

const is = (field: string, op: string, value?: unknown) => ({ field, op, value }) as PolicyCondition
const x = (op: string, value?: unknown) => is('context.x', op, value)
const inList = (when: unknown) => ({ in: 'context.list', as: 'item', when })
const some = (when: unknown) => ({ any: inList(when) })
const every = (when: unknown) => ({ all: inList(when) })
const e = (op: string, value?: unknown) => is('item', op, value)
const rule = (id: string, when: unknown, members: object = {}) => ({ id, when, require: { deny: true }, ...members })
const OFF_WHEN_MISSING = 'ineffective_when_missing'
// Most deny rules of these tests depend on fields that may be missing.
const findingsOf = (...rules: object[]) =>
  analysisOf(documentOf({ rules })).flatMap(({ code, rule_id, other_rule_id }) =>
    code === OFF_WHEN_MISSING ? [] : [code, rule_id, other_rule_id].filter((one) => one !== undefined).join(' '),
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
    ['a list that is none', { all: [some(e('eq', 1)), is('context.list', 'exists', false)] }],
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
    // What quantifiers say of the elements is not compared.
    ['elements of two values', { all: [some(e('eq', 1)), some(e('eq', 2))] }],
    ['one element of two values', some({ all: [e('eq', 1), e('eq', 2)] })],
    ['an empty list', { all: [every(e('eq', 1)), every(e('eq', 2))] }],
    ['not of a missing list', { all: [{ not: some(e('eq', 1)) }, is('context.list', 'exists', false)] }],
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
    // A value of another type is an error, which refuses, and a missing field is not equal to anything.
    ['a text and not that text', { any: [x('eq', 'a'), x('ne', 'a')] }],
    ['a list of texts and no text of it', { not: { all: [x('in', ['a']), x('not_in', ['a'])] } }],
    ['every tier', is('device.tier', 'in', ['none', 'software', 'tee', 'strongbox', 'secure_enclave'])],
  ])('is found for %s', (_, when) => {
    expect(findingsOf(rule('r', when))).toEqual(['always_denies r'])
  })

  it.each<[string, unknown]>([
    // A missing field makes both comparisons false.
    ['both sides of a number', { any: [x('gt', 5), x('lte', 5)] }],
    ['the elements of a list and the others', { any: [some(e('eq', 1)), some(e('ne', 1)), every(e('gt', 2))] }],
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

  it('is not found for other elements of one list', () => {
    for (const form of [some, every]) {
      expect(findingsOf(rule('a', form(e('gt', 1))), rule('b', form(e('gt', 2))))).toEqual([])
      expect(findingsOf(rule('a', is('context.list', 'exists')), rule('b', form(e('gt', 2))))).toEqual([
        'shadowed_by b a',
      ])
    }
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

describe('ineffective_when_missing', () => {
  const namesOf = (when: unknown, members: object = {}) =>
    analysisOf(documentOf({ rules: [rule('r', when, members)] }))
      .filter(({ code }) => code === OFF_WHEN_MISSING)
      .map(({ detail, pointer }) => `${pointer} ${detail.split(': ')[1]}`)
  const y = is('context.y', 'eq', 1)

  it.each<[string, unknown, string]>([
    ['one comparison', x('eq', 1), 'context.x'],
    [
      'several fields',
      { all: [x('gt', 1), { any: [y, x('lt', 9)] }, is('action_type', 'eq', 'wire')] },
      'context.x, context.y, action_type',
    ],
    ['not under not_in', { not: x('not_in', ['a']) }, 'context.x'],
    ['a field of a mandate', is('mandate.max_amount', 'gt', 5), 'mandate.max_amount'],
    ['a list and a member of its elements', some(is('item.sku', 'eq', 'a')), 'context.list, item.sku'],
    ['a field beside the elements', every({ any: [e('eq', 1), { all: [y, x('ne', 1)] }] }), 'context.list, context.y'],
    ['a field beside a list that may be empty', { any: [x('gt', 5), some({ all: [] })] }, 'context.x, context.list'],
    ['a field beside a list that may be missing', { any: [x('gt', 5), every({ all: [] })] }, 'context.x, context.list'],
    [
      'a list of lists',
      some({ any: { in: 'item.lines', as: 'line', when: is('line', 'eq', 1) } }),
      'context.list, item.lines',
    ],
    [
      'more than five',
      { all: ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => is(`context.${name}`, 'eq', 1)) },
      'context.a, context.b, context.c, context.d, context.e and 2 more',
    ],
  ])('is found for %s', (_, when, names) => {
    expect(namesOf(when)).toEqual([`/rules/0/when ${names}`])
  })

  it.each<[string, unknown]>([
    ['no condition', { all: [] }],
    ['ne and not_in', { all: [x('ne', 1), is('context.y', 'not_in', ['a'])] }],
    ['not eq', { not: { any: [x('eq', 1), y] } }],
    ['a field that is tested by exists', { all: [x('exists'), x('gt', 1)] }],
    ['a field whose absence matches', { any: [x('gt', 5), x('ne', 7)] }],
    ['what another condition decides', { any: [x('gt', 5), { all: [] }] }],
    ['not every element', { not: every(is('item.sku', 'eq', 'a')) }],
    [
      'fields that are always there',
      { all: [is('device.tier', 'eq', 'tee'), is('time.hour', 'gt', 5), is('token.biometric', 'eq', false)] },
    ],
  ])('is not found for %s', (_, when) => {
    expect(namesOf(when)).toEqual([])
  })

  it('is for enabled rules that deny and have no on_missing', () => {
    expect(namesOf(x('eq', 1), { shadow: true })).toHaveLength(1)
    expect(namesOf(x('eq', 1), { enabled: false })).toEqual([])
    expect(namesOf(x('eq', 1), { on_missing: 'match' })).toEqual([])
    expect(namesOf(x('eq', 1), { require: { biometric: true } })).toEqual([])
  })

  it('leaves other findings their places, and names fields without a proof in very long rules', () => {
    const rules = [
      ...Array.from({ length: 999 }, (_, n) => rule(`r${n}`, { all: [is('action_type', 'eq', `t${n}`), y] })),
      rule('never', { any: [] }),
    ]
    const found = analysisOf(documentOf({ rules })).map(({ code }) => code)
    expect(found.filter((code) => code === OFF_WHEN_MISSING)).toHaveLength(999)
    expect(found).toContain('never_matches')
    const long = Array.from({ length: 5_000 }, (_, n) => is(`context.a${n}`, 'eq', 1))
    const groups = Array.from({ length: 50 }, (_, n) => ({ any: long.slice(n * 100, (n + 1) * 100) }))
    expect(namesOf({ any: [{ all: [] }, ...groups] })).toHaveLength(1)
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
