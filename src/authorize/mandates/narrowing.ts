// Whether terms allow no more than others: of a mandate after a change, and of a child under each of its ancestors. What is not
// limited may be limited; what is limited may only be limited further.

import type { FieldError } from '#src/failure.ts'
import {
  currencyOf,
  type MandateBudget,
  type MandateConstraints,
  type MandateFacts,
  type MandateWindow,
  remainingCountOf,
  remainingOf,
  unitsOf,
} from './judge.ts'

/** undefined of a constraint: not limited. */
export function findWiderConstraints(
  outer: MandateConstraints,
  inner: MandateConstraints,
  { isSameZone = true }: { isSameZone?: boolean } = {},
): FieldError[] {
  const { min_amount: least, max_amount: most, currency, action_types, counterparties, window } = inner
  const errors: FieldError[] = []
  const refuse = (member: keyof MandateConstraints, detail: string) =>
    errors.push(wider(`/constraints/${member}`, detail))
  if (outer.min_amount !== undefined && least !== undefined && unitsOf(least) < unitsOf(outer.min_amount)) {
    refuse('min_amount', `must not be below ${outer.min_amount}`)
  }
  if (outer.max_amount !== undefined && most !== undefined && unitsOf(most) > unitsOf(outer.max_amount)) {
    refuse('max_amount', `must not be above ${outer.max_amount}`)
  }
  if (outer.currency !== undefined && currency !== undefined && currency !== outer.currency) {
    refuse('currency', `must be ${outer.currency}`)
  }
  if (!isWithin(outer.action_types, action_types))
    refuse('action_types', 'must name only types that are allowed already')
  if (!isWithin(outer.counterparties, counterparties)) {
    refuse('counterparties', 'must name only counterparties that are allowed already')
  }
  // Windows of two time zones can't be compared once and for all: the decision asks both.
  if (outer.window !== undefined && window !== undefined && isSameZone && !isWindowWithin(outer.window, window)) {
    refuse('window', 'must lie within the window that is allowed already')
  }
  return errors
}

export function findWiderBudget(outer: MandateBudget | null, inner: MandateBudget): FieldError[] {
  if (outer === null) return []
  const errors: FieldError[] = []
  if (inner.currency !== outer.currency) errors.push(wider('/budget/currency', `must be ${outer.currency}`))
  if (inner.period !== outer.period) errors.push(wider('/budget/period', `must be ${outer.period}`))
  if (unitsOf(inner.limit) > unitsOf(outer.limit))
    errors.push(wider('/budget/limit', `must not be above ${outer.limit}`))
  const [most, count] = [outer.max_count, inner.max_count]
  if (most !== undefined && count !== undefined && count > most) {
    errors.push(wider('/budget/max_count', `must not be above ${most}`))
  }
  return errors
}

/** Compares instruments; null: any. */
export function findWiderNames(outer: string[] | null, inner: string[] | null): FieldError[] {
  if (isWithin(outer ?? undefined, inner ?? undefined)) return []
  return [wider('/instruments', 'must name only instruments that are allowed already')]
}

/** Compares the times from which actions may run; null: from the grant on. */
export function findEarlier(outer: Date | null, inner: Date | null): FieldError[] {
  if (outer === null || inner === null || inner >= outer) return []
  return [wider('/not_before', `must not be before ${outer.toISOString()}`)]
}

export interface ChildTerms {
  constraints: MandateConstraints
  budget: MandateBudget | null
  notBefore: Date | null
  instruments: string[] | null
  expiresAt: Date
  timezone: string
}

/**
 * What of a child is not within its parent and all of its ancestors, as they are now. An expiry may be left out.
 * @param child `maxCount`: that of its budget, unless it is given.
 */
export function findBeyondParent({ levels }: MandateFacts, child: BeyondTerms): FieldError[] {
  const { constraints, budget, notBefore, instruments, expiresAt, timezone, maxCount = budget?.max_count } = child
  const errors = levels.flatMap((level) => {
    const isSameZone = level.timezone === timezone
    const currency = currencyOf(level)
    const foreign =
      currency !== undefined && budget !== null && budget.currency !== currency
        ? [wider('/budget/currency', `must be ${currency}`)]
        : []
    const late =
      expiresAt !== undefined && expiresAt.toISOString() > level.expires_at
        ? [wider('/expires_at', `must not be after ${level.expires_at}`)]
        : []
    const outer = currency === undefined ? level.constraints : { ...level.constraints, currency }
    return [
      ...findWiderConstraints(outer, constraints, { isSameZone }),
      ...findWiderNames(level.instruments ?? null, instruments),
      ...findEarlier(level.not_before === undefined ? null : new Date(level.not_before), notBefore),
      ...foreign,
      ...late,
    ]
  })
  const left = remainingOf({ levels })
  if (budget !== null && left !== null && unitsOf(budget.limit) > unitsOf(left)) {
    errors.push(wider('/budget/limit', `must not be above what its ancestors have left, ${left}`))
  }
  const countLeft = remainingCountOf({ levels })
  if (maxCount !== undefined && countLeft !== null && maxCount > countLeft) {
    errors.push(wider('/budget/max_count', `must not be above what its ancestors have left, ${countLeft}`))
  }
  return [...new Map(errors.map((error) => [`${error.pointer} ${error.detail}`, error])).values()]
}

interface BeyondTerms extends Omit<ChildTerms, 'expiresAt'> {
  expiresAt?: Date | undefined
  maxCount?: number | undefined
}

/** Whether the members of new terms agree with each other. @param inherited The currency of an ancestor. */
export function findInconsistent(
  { constraints, budget, notBefore, expiresAt }: Pick<ChildTerms, 'constraints' | 'budget' | 'notBefore' | 'expiresAt'>,
  inherited?: string,
): FieldError[] {
  const { currency, min_amount: least, max_amount: most } = constraints
  if (notBefore !== null && notBefore >= expiresAt) {
    return [{ pointer: '/not_before', code: 'out_of_range', detail: 'must be before expires_at' }]
  }
  if (least !== undefined && most !== undefined && unitsOf(least) > unitsOf(most)) {
    return [{ pointer: '/constraints/min_amount', code: 'out_of_range', detail: 'must not be above max_amount' }]
  }
  if (currency !== undefined && budget !== null && budget.currency !== currency) {
    return [
      { pointer: '/budget/currency', code: 'mismatch', detail: `must be ${currency}, the currency of the constraints` },
    ]
  }
  if ((least ?? most) === undefined || (currency ?? budget?.currency ?? inherited) !== undefined) return []
  const limit = most === undefined ? 'min_amount' : 'max_amount'
  return [{ pointer: '/constraints/currency', code: 'required', detail: `is needed beside ${limit}` }]
}

function isWithin(outer: string[] | undefined, inner: string[] | undefined): boolean {
  return outer === undefined || inner === undefined || inner.every((name) => outer.includes(name))
}

function isWindowWithin(outer: MandateWindow, inner: MandateWindow): boolean {
  const days = (window: MandateWindow) => window.weekdays ?? [1, 2, 3, 4, 5, 6, 7]
  return (
    days(inner).every((day) => days(outer).includes(day)) &&
    (inner.from ?? '00:00') >= (outer.from ?? '00:00') &&
    (inner.to ?? '24:00') <= (outer.to ?? '24:00')
  )
}

function wider(pointer: string, detail: string): FieldError {
  return { pointer, code: 'wider', detail }
}
