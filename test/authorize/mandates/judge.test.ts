import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ActionAmounts, actionAmountsOf, isPointer } from '#src/authorize/action-amounts.ts'
import {
  judgeMandate,
  type MandateConstraints,
  type MandateFacts,
  type MandateLevel,
  type MandateStatus,
  remainingCountOf,
  remainingOf,
  unitsOf,
} from '#src/authorize/mandates/judge.ts'
import { findInconsistent, findWiderBudget, findWiderConstraints } from '#src/authorize/mandates/narrowing.ts'
import { formatAmount } from '#src/platform/amounts.ts'
import type { JsonObject } from '#src/platform/crypto/canonical.ts'

const AT = '2026-11-20T12:00:00.000Z'
const ACTION: ActionAmounts = {
  action_type: 'purchase',
  amount: '120',
  currency: 'EUR',
  counterparty: 'Example Parts',
  instrument: null,
  malformed: [],
  contradicted: {},
}
const level = (more: Partial<MandateLevel> = {}): MandateLevel => ({
  mandate_id: 'mnd_1',
  status: 'active',
  revoked_at: null,
  expires_at: '2027-01-01T00:00:00.000Z',
  timezone: 'UTC',
  heartbeat: null,
  constraints: {},
  budget: null,
  period: null,
  spent: '0',
  count: 0,
  local: { weekday: 5, time: '12:00' },
  ...more,
})
const budget = (limit: string, spent = '0'): Partial<MandateLevel> => ({
  budget: { limit, currency: 'EUR', period: 'day' },
  period: { start: '2026-11-20', end: '2026-11-21' },
  spent,
})
const factsOf = (...levels: MandateLevel[]): MandateFacts => ({
  mandate_id: 'mnd_1',
  levels,
  agent_id: null,
  pointers: {},
  attributes: {},
})
const judge = (facts: MandateFacts, action: Partial<ActionAmounts> = {}, isCharged = false) =>
  judgeMandate(facts, { ...ACTION, ...action }, AT, { isCharged })
const detailOf = (constraints: MandateConstraints, action: Partial<ActionAmounts> = {}) =>
  judge(factsOf(level({ constraints })), action)?.mandate_detail

describe('a mandate', () => {
  it('allows what it does not limit', () => {
    expect(
      judge(factsOf(level()), { action_type: null, amount: null, currency: null, counterparty: null }),
    ).toBeUndefined()
    expect(judge(factsOf(level(), level({ constraints: { max_amount: '120', currency: 'EUR' } })))).toBeUndefined()
  })

  it('names the constraint that an action violates, with what was expected and what came', () => {
    const mandate_id = 'mnd_1'
    const EUR = { max_amount: '119.9999', currency: 'EUR' }
    const cases: [MandateConstraints, Partial<ActionAmounts>, object][] = [
      [EUR, {}, { constraint: 'max_amount', expected: '119.9999', actual: '120' }],
      [EUR, { amount: null }, { constraint: 'amount', expected: '0 or more', actual: null }],
      [EUR, { amount: '-1' }, { constraint: 'amount', expected: '0 or more', actual: '-1' }],
      [
        { min_amount: '120.0001', currency: 'EUR' },
        {},
        { constraint: 'min_amount', expected: '120.0001', actual: '120' },
      ],
      [{ currency: 'EUR' }, { currency: 'USD' }, { constraint: 'currency', expected: 'EUR', actual: 'USD' }],
      [{ currency: 'EUR' }, { currency: null }, { constraint: 'currency', expected: 'EUR', actual: null }],
      [{ action_types: ['refund'] }, {}, { constraint: 'action_types', expected: ['refund'], actual: 'purchase' }],
      [
        { action_types: ['refund'] },
        { action_type: null },
        { constraint: 'action_types', expected: ['refund'], actual: null },
      ],
      [
        { counterparties: ['a', 'b'] },
        {},
        { constraint: 'counterparties', expected: ['a', 'b'], actual: 'Example Parts' },
      ],
      [
        { window: { weekdays: [1, 2] } },
        {},
        { constraint: 'window', expected: { weekdays: [1, 2] }, actual: { weekday: 5, time: '12:00' } },
      ],
      [
        { window: { to: '12:00' } },
        {},
        { constraint: 'window', expected: { to: '12:00' }, actual: { weekday: 5, time: '12:00' } },
      ],
      [
        { window: { from: '12:01' } },
        {},
        { constraint: 'window', expected: { from: '12:01' }, actual: { weekday: 5, time: '12:00' } },
      ],
    ]
    for (const [constraints, action, expected] of cases) {
      expect(detailOf(constraints, action)).toEqual({ ...expected, mandate_id })
    }
    expect(detailOf({ window: { weekdays: [5], from: '12:00', to: '12:01' } })).toBeUndefined()
  })

  it('limits amounts by its budget too: an amount and its currency have to be there', () => {
    const facts = factsOf(level(budget('100')))
    expect(judge(facts, { amount: null })?.mandate_detail).toMatchObject({ constraint: 'amount' })
    expect(judge(facts, { currency: 'USD' })?.mandate_detail).toMatchObject({ constraint: 'currency', expected: 'EUR' })
  })

  it('refuses what exceeds the budget of any level, by the one that has the least left', () => {
    const root = level({ ...budget('1000', '900.01'), mandate_id: 'mnd_root' })
    const leaf = level({ ...budget('500', '100'), mandate_id: 'mnd_leaf' })
    expect(judge(factsOf(root, leaf), { amount: '99.99' })).toBeUndefined()
    expect(judge(factsOf(root, leaf), { amount: '100' })).toEqual({
      reason: 'mandate_budget_exceeded',
      mandate_detail: {
        constraint: 'budget',
        expected: '1000',
        actual: '100',
        remaining: '99.99',
        mandate_id: 'mnd_root',
      },
    })
    expect(judge(factsOf(root, leaf), { amount: '100' }, true)).toBeUndefined()
    expect(remainingOf(factsOf(root, leaf))).toBe('99.99')
    expect(remainingOf(factsOf(root, leaf), '99')).toBe('0.99')
    expect(remainingOf(factsOf(level()))).toBeNull()
  })

  it('has nothing left of a budget that was narrowed below what is spent', () => {
    const facts = factsOf(level(budget('10', '20')))
    expect(judge(facts, { amount: '0' })).toBeUndefined()
    expect(judge(facts, { amount: '0.0001' })?.mandate_detail).toMatchObject({ remaining: '0' })
  })

  it('begins at not_before, and allows the instruments that it names', () => {
    expect(judge(factsOf(level({ not_before: AT, instruments: ['a', 'b'] })), { instrument: 'b' })).toBeUndefined()
    const later = '2026-11-20T12:00:00.001Z'
    expect(judge(factsOf(level({ not_before: later })))?.mandate_detail).toEqual({
      ...{ constraint: 'not_before', expected: later, actual: AT },
      mandate_id: 'mnd_1',
    })
    expect(judge(factsOf(level({ instruments: ['a'] })), { instrument: 'b' })).toMatchObject({
      reason: 'mandate_constraint_violated',
      mandate_detail: { constraint: 'instruments', expected: ['a'], actual: 'b' },
    })
  })

  it('counts executions: the last one is allowed, and after it none, of any amount', () => {
    const counted = (count: number | undefined, max_count: number) =>
      level({
        ...budget('100'),
        budget: { limit: '1000', currency: 'EUR', period: 'day', max_count },
        ...(count !== undefined && { count }),
      })
    expect(judge(factsOf(counted(2, 3)))).toBeUndefined()
    expect(judge(factsOf(counted(undefined, 1)))).toBeUndefined()
    expect(judge(factsOf(counted(3, 3)), { amount: '0' })).toEqual({
      reason: 'mandate_budget_exceeded',
      mandate_detail: { constraint: 'max_count', expected: 3, actual: 4, remaining: '0', mandate_id: 'mnd_1' },
    })
    expect(judge(factsOf(counted(3, 3)), {}, true)).toBeUndefined()
    expect(remainingCountOf(factsOf(counted(1, 9), counted(2, 4), counted(9, 1)))).toBe(0)
    expect(remainingCountOf(factsOf(counted(1, 9), level()))).toBe(8)
    expect(remainingCountOf(factsOf(level(budget('1'))))).toBeNull()
  })

  it('gives the first reason in the published order, whichever level has it', () => {
    const reasons: [MandateStatus, string][] = [
      ['revoked', 'mandate_revoked'],
      ['expired', 'mandate_expired'],
      ['lapsed', 'mandate_heartbeat_lapsed'],
      ['suspended', 'mandate_heartbeat_lapsed'],
    ]
    const broken = level({ constraints: { counterparties: ['other'] } })
    const spent = level(budget('1', '1'))
    const inOrder = [
      ...reasons.map(([status, reason]) => [level({ status }), reason] as const),
      [broken, 'mandate_constraint_violated'] as const,
      [spent, 'mandate_budget_exceeded'] as const,
    ]
    for (const [index, [one, reason]] of inOrder.entries()) {
      for (const [other] of inOrder.slice(index)) {
        expect(judge(factsOf(other, one))?.reason).toBe(reason)
        expect(judge(factsOf(one, other))?.reason).toBe(reason)
      }
    }
    expect(judge(factsOf(level({ expires_at: AT })))?.reason).toBe('mandate_expired')
  })
})

const amounts = fc.bigInt({ min: 0n, max: 10n ** 8n }).map(formatAmount)
const names = fc.subarray(['purchase', 'refund', 'wire'], { minLength: 1 })
const constraintsArb: fc.Arbitrary<MandateConstraints> = fc.record(
  {
    min_amount: amounts,
    max_amount: amounts,
    currency: fc.constantFrom('EUR', 'USD'),
    action_types: names,
    window: fc.record({ from: fc.constantFrom('00:00', '09:00'), to: fc.constantFrom('10:00', '24:00') }),
  },
  { requiredKeys: [] },
)
const levelArb = fc
  .record({
    status: fc.constantFrom<MandateStatus>('active', 'active', 'active', 'revoked', 'expired', 'lapsed', 'suspended'),
    constraints: constraintsArb,
    budget: fc.option(fc.record({ limit: amounts, spent: amounts })),
    time: fc.constantFrom('08:00', '09:30', '23:00'),
  })
  .map(({ status, constraints, budget: given, time }) =>
    level({
      status,
      constraints,
      local: { weekday: 5, time },
      ...(given === null ? {} : budget(given.limit, given.spent)),
    }),
  )
const actionArb: fc.Arbitrary<ActionAmounts> = fc.record({
  action_type: fc.constantFrom('purchase', 'wire', null),
  amount: fc.option(fc.bigInt({ min: -1_000n, max: 10n ** 8n }).map(formatAmount)),
  currency: fc.constantFrom('EUR', 'USD', null),
  counterparty: fc.constant(null),
  instrument: fc.constant(null),
  malformed: fc.constant([]),
  contradicted: fc.constant({}),
})

describe('for all mandates and actions', () => {
  const levelsArb = fc.array(levelArb, { minLength: 1, maxLength: 5 })

  it('the order of the levels does not change the verdict', () => {
    fc.assert(
      fc.property(
        levelsArb.chain((levels) =>
          fc.tuple(fc.constant(levels), fc.shuffledSubarray(levels, { minLength: levels.length })),
        ),
        actionArb,
        ([levels, shuffled], action) => {
          const [one, other] = [judge(factsOf(...levels), action), judge(factsOf(...shuffled), action)]
          expect(other?.reason).toBe(one?.reason)
          expect(other?.mandate_detail?.constraint).toBe(one?.mandate_detail?.constraint)
          expect(other?.mandate_detail?.remaining).toBe(one?.mandate_detail?.remaining)
        },
      ),
    )
  })

  it('what is allowed leaves no budget below zero, and the rest is never negative', () => {
    fc.assert(
      fc.property(levelsArb, actionArb, (levels, action) => {
        const facts = factsOf(...levels)
        const left = remainingOf(facts)
        if (left !== null) expect(unitsOf(left)).toBeGreaterThanOrEqual(0n)
        const charged = action.amount === null ? 0n : unitsOf(action.amount)
        if (judge(facts, action) !== undefined || charged <= 0n) return
        for (const { budget: own, spent } of levels) {
          if (own !== null) expect(unitsOf(spent) + charged).toBeLessThanOrEqual(unitsOf(own.limit))
        }
      }),
    )
  })

  it('an ancestor more never allows more', () => {
    fc.assert(
      fc.property(levelsArb, levelArb, actionArb, (levels, more, action) => {
        if (judge(factsOf(...levels), action) === undefined) return
        expect(judge(factsOf(more, ...levels), action)).toBeDefined()
      }),
    )
  })

  it('terms that are no wider never allow more', () => {
    fc.assert(
      fc.property(
        fc.tuple(constraintsArb, constraintsArb),
        fc.tuple(amounts, amounts),
        actionArb,
        ([outer, change], [limit, lower], action) => {
          const inner = { ...outer, ...change }
          const [before, after] = [budget(limit), budget(lower)]
          const wider = findWiderConstraints(outer, change)
          if (before.budget && after.budget) wider.push(...findWiderBudget(before.budget, after.budget))
          fc.pre(wider.length === 0)
          // Terms whose currencies differ are refused too.
          const dates = { notBefore: null, expiresAt: new Date(AT) }
          fc.pre(findInconsistent({ constraints: inner, budget: after.budget ?? null, ...dates }).length === 0)
          if (judge(factsOf(level({ constraints: outer, ...before })), action) === undefined) return
          expect(judge(factsOf(level({ constraints: inner, ...after })), action)).toBeDefined()
        },
      ),
      // One pair of terms in a hundred is no wider, which is as many as are skipped by default.
      { maxSkipsPerRun: 1_000 },
    )
  })
})

describe('what is compared of an action', () => {
  const PAYLOAD = { amount: 12.5, currency: 'EUR', counterparty: 'Example Parts', action_type: 'purchase' }
  const NONE = {
    ...{ action_type: null, amount: null, currency: null, counterparty: null, instrument: null },
    contradicted: {},
  }
  const read = (payload: JsonObject, ...rest: [object?, object?]) => actionAmountsOf(payload, ...rest)

  it('comes from the payload: exact decimals, and names as they are', () => {
    const expected = { ...PAYLOAD, amount: '12.5', instrument: null, malformed: [], contradicted: {} }
    expect(read(PAYLOAD)).toEqual(expected)
    expect(read({ ...PAYLOAD, amount: '12.50' })).toEqual(expected)
    expect(read({})).toEqual({ ...NONE, malformed: [] })
    expect(read({ instrument: 'card:4242' }).instrument).toBe('card:4242')
    expect(read({ ...PAYLOAD, amount: -3 }).amount).toBe('-3')
  })

  it('is null and malformed where it can not be read', () => {
    const odd: JsonObject[] = [
      { amount: '1e3', currency: 'eur', counterparty: { name: 'x' }, action_type: 7, instrument: 1 },
      { amount: 0.00001, currency: 'EURO', counterparty: '', action_type: 'x'.repeat(201), instrument: '' },
      { amount: true, currency: 978, counterparty: ['x'], action_type: false, instrument: [] },
    ]
    for (const payload of odd) {
      const malformed = ['action_type', 'amount', 'currency', 'counterparty', 'instrument']
      expect(read(payload)).toEqual({ ...NONE, malformed })
    }
  })

  it('comes from where the mandate points, and the same at another place may only agree', () => {
    const pointers = { amount: '/order/lines/0/total', counterparty: '/order/se~1ller' }
    const order = { lines: [{ total: '9.90' }], 'se/ller': 'Example Tools' }
    expect(read({ order }, pointers)).toMatchObject({ amount: '9.9', counterparty: 'Example Tools', malformed: [] })
    expect(read({ order, amount: 9.9 }, pointers)).toMatchObject({ amount: '9.9', malformed: [] })
    expect(read({ order, amount: 9.8, counterparty: 'other' }, pointers)).toMatchObject({
      amount: null,
      counterparty: null,
      malformed: ['amount', 'counterparty'],
    })
    expect(read({ ...PAYLOAD }, pointers)).toMatchObject({ amount: null, counterparty: null, malformed: [] })
  })

  it('is contradicted by what the request names beside the payload, and by transaction_amount', () => {
    expect(read(PAYLOAD, {}, { action_type: 'purchase', counterparty: 'Example Parts' }).malformed).toEqual([])
    expect(read(PAYLOAD, {}, { action_type: 'refund', counterparty: 'other' })).toMatchObject({
      action_type: null,
      counterparty: null,
      malformed: ['action_type', 'counterparty'],
      contradicted: {
        action_type: { expected: 'purchase', actual: 'refund' },
        counterparty: { expected: 'Example Parts', actual: 'other' },
      },
    })
    expect(read(PAYLOAD, {}, { amounts: [undefined, 12.5, '12.50'] }).amount).toBe('12.5')
    expect(read(PAYLOAD, {}, { amounts: [12.4] })).toMatchObject({ amount: null, malformed: ['amount'] })
    expect(read({ ...PAYLOAD, transaction_amount: '12.5' }).amount).toBe('12.5')
    expect(read({ ...PAYLOAD, transaction_amount: 1_000 })).toMatchObject({ amount: null, malformed: ['amount'] })
    // What only stands beside the payload is not read.
    expect(read({}, {}, { counterparty: 'x' }).counterparty).toBeNull()
  })

  it('never is an inherited member, nor an element at an odd index', () => {
    for (const pointer of ['/constructor/name', '/__proto__/x', '/list/-1', '/list/01', '/list/length', '/name/0']) {
      expect(isPointer(pointer)).toBe(true)
      expect(read({ list: ['a'], name: 'abc' }, { counterparty: pointer })).toMatchObject({
        counterparty: null,
        malformed: [],
      })
    }
    for (const none of ['', 'amount', '/a~2', `/${'a'.repeat(200)}`, '/a'.repeat(11)])
      expect(isPointer(none)).toBe(false)
  })
})
