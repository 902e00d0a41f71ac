// What requests may do to the terms of mandates, in the state in which they are.

import { Failure, type FieldError, refusalOf } from '#src/failure.ts'
import type { FieldErrorCode } from '#src/field-errors.ts'
import type { Json } from '#src/platform/crypto/canonical.ts'
import { currencyOf, type MandateBudget, type MandateFacts, type MandateStatus } from './judge.ts'
import {
  findBeyondParent,
  findEarlier,
  findInconsistent,
  findWiderBudget,
  findWiderConstraints,
  findWiderNames,
} from './narrowing.ts'
import type { MandateHeartbeat, MandateRow, MandateTerms, NewMandate } from './rows.ts'
import { budgetOf } from './rows.ts'

/** What a narrowing may name. Absent members stay as they are. */
export interface MandateNarrowing {
  agentId?: string | undefined
  constraints?: MandateTerms['constraints'] | undefined
  budget?:
    | {
        limit: string
        currency?: string | undefined
        period?: MandateBudget['period'] | undefined
        max_count?: number | undefined
      }
    | undefined
  notBefore?: Date | undefined
  instruments?: string[] | undefined
  expiresAt?: Date | undefined
  heartbeat?: { intervalSeconds: number; windowSeconds?: number | undefined } | undefined
}

/** The reactivation window of a new heartbeat that names none. */
export const DEFAULT_WINDOW_SECONDS = 86_400
/** A root and four levels below it: each charge writes a row on every level. */
export const MAX_DEPTH = 5

/**
 * Whether a mandate may be granted under another one.
 * @throws {Failure} `not_found`, `invalid_request`; `invalid_state_transition` for a parent that is not active.
 */
export function checkParent(
  parentId: string,
  parent: MandateFacts | undefined,
  request: Pick<
    NewMandate,
    'constraints' | 'budget' | 'notBefore' | 'instruments' | 'expiresAt' | 'timezone' | 'pointers'
  >,
): void {
  if (parent === undefined) throw new Failure('not_found', `There is no mandate ${parentId}.`)
  const { levels } = parent
  const stopped = levels.find(({ status }) => status !== 'active')
  if (stopped !== undefined) throw stateFailure(stopped.mandate_id, stopped.status, ['active'])
  const errors = [...findInconsistent(request, currencyIn(parent)), ...findBeyondParent(parent, request)]
  if (levels.length >= MAX_DEPTH) {
    const detail = `must be a mandate with fewer than ${MAX_DEPTH - 1} ancestors`
    errors.push({ pointer: '/parent_id', code: 'too_deep', detail })
  }
  if (Object.keys(request.pointers).length > 0) {
    errors.push({
      pointer: '/payload_pointers',
      code: 'not_allowed',
      detail: 'must be the same as in the root mandate',
    })
  }
  if (errors.length > 0) throw refusalOf(errors)
}

export function termsOf({ intervalSeconds, windowSeconds, ...row }: MandateRow): MandateTerms {
  return {
    agentId: row.agentId,
    constraints: row.constraints,
    budget: budgetOf(row),
    notBefore: row.notBefore,
    instruments: row.instruments,
    expiresAt: row.expiresAt,
    heartbeat: intervalSeconds === null || windowSeconds === null ? null : { intervalSeconds, windowSeconds },
  }
}

/** @throws {Failure} `invalid_request` for each member that would allow more than the mandate, or its ancestors, did. */
export function narrowedTerms(
  terms: MandateTerms,
  narrowing: MandateNarrowing,
  { ancestors, timezone }: { ancestors: MandateFacts | undefined; timezone: string },
  now: Date,
): MandateTerms {
  const errors: FieldError[] = []
  const refuse = (pointer: string, detail: string, code: FieldErrorCode = 'wider') =>
    errors.push({ pointer, code, detail })
  const { agentId = terms.agentId, constraints = {}, expiresAt = terms.expiresAt } = narrowing
  const { notBefore = terms.notBefore, instruments = terms.instruments } = narrowing
  const heartbeat = narrowedHeartbeat(terms.heartbeat, narrowing.heartbeat)
  if (terms.agentId !== null && agentId !== terms.agentId) refuse('/agent_id', `must be ${terms.agentId}`)
  if (expiresAt > terms.expiresAt) refuse('/expires_at', `must not be after ${terms.expiresAt.toISOString()}`)
  if (narrowing.expiresAt !== undefined && expiresAt <= now) {
    refuse('/expires_at', 'must be in the future: revoke the mandate to end it now', 'out_of_range')
  }
  errors.push(
    ...findWiderConstraints(terms.constraints, constraints),
    ...findWiderNames(terms.instruments, instruments),
    ...findEarlier(terms.notBefore, notBefore),
    ...findWiderHeartbeat(terms.heartbeat, heartbeat),
  )
  const budget = narrowedBudget(terms.budget, narrowing.budget, refuse)
  if (terms.budget !== null && budget !== null) errors.push(...findWiderBudget(terms.budget, budget))
  const own = { notBefore, instruments, expiresAt }
  const narrowed = { ...own, agentId, constraints: { ...terms.constraints, ...constraints }, budget, heartbeat }
  errors.push(...findInconsistent(narrowed, ancestors && currencyIn(ancestors)))
  if (ancestors !== undefined) {
    errors.push(...findBeyondParent(ancestors, { ...limitedFirst(terms, narrowed), timezone }))
  }
  if (errors.length > 0) throw refusalOf(errors)
  return narrowed
}

/**
 * What was limited by ancestors alone until now. The rest is not compared with them: it is less than before, and they may
 * have been narrowed since.
 */
function limitedFirst(before: MandateTerms, { constraints, budget, notBefore, instruments }: MandateTerms) {
  const isNew = ([name]: [string, unknown]) => !(name in before.constraints)
  return {
    constraints: Object.fromEntries(Object.entries(constraints).filter(isNew)) as MandateTerms['constraints'],
    budget: before.budget === null ? budget : null,
    maxCount: before.budget?.max_count === undefined ? budget?.max_count : undefined,
    notBefore: before.notBefore === null ? notBefore : null,
    instruments: before.instruments === null ? instruments : null,
  }
}

function currencyIn({ levels }: MandateFacts): string | undefined {
  return levels.map(currencyOf).find((currency) => currency !== undefined)
}

function narrowedHeartbeat(
  current: MandateHeartbeat | null,
  wanted: MandateNarrowing['heartbeat'],
): MandateHeartbeat | null {
  if (wanted === undefined) return current
  const { intervalSeconds, windowSeconds = current?.windowSeconds ?? DEFAULT_WINDOW_SECONDS } = wanted
  return { intervalSeconds, windowSeconds }
}

function narrowedBudget(
  current: MandateBudget | null,
  wanted: MandateNarrowing['budget'],
  refuse: (pointer: string, detail: string, code: FieldErrorCode) => void,
): MandateBudget | null {
  if (wanted === undefined) return current
  const { limit, currency = current?.currency, period = current?.period, max_count = current?.max_count } = wanted
  if (currency !== undefined && period !== undefined) {
    return { limit, currency, period, ...(max_count !== undefined && { max_count }) }
  }
  if (currency === undefined) refuse('/budget/currency', 'is required: the mandate has no budget yet', 'required')
  if (period === undefined) refuse('/budget/period', 'is required: the mandate has no budget yet', 'required')
  return null
}

function findWiderHeartbeat(outer: MandateHeartbeat | null, inner: MandateHeartbeat | null): FieldError[] {
  if (outer === null || inner === null) return []
  const errors: FieldError[] = []
  const check = (member: string, most: number, wanted: number) => {
    if (wanted > most)
      errors.push({ pointer: `/heartbeat/${member}`, code: 'wider', detail: `must not be above ${most}` })
  }
  check('interval_seconds', outer.intervalSeconds, inner.intervalSeconds)
  check('reactivation_window_seconds', outer.windowSeconds, inner.windowSeconds)
  return errors
}

/** @throws {Failure} `invalid_state_transition` in any other state. */
export function requireState({ statusOf, status }: MandateRow, allowed: readonly MandateStatus[]): void {
  if (!allowed.includes(status)) throw stateFailure(statusOf, status, allowed)
}

/** @param id Of the mandate or of the ancestor that has the state. */
export function stateFailure(id: string, state: MandateStatus, allowed: readonly MandateStatus[]): Failure {
  return new Failure('invalid_state_transition', {
    detail: `${id} is ${state}: this needs a mandate that is ${allowed.join(' or ')}, with all of its ancestors.`,
    members: { allowed, current_status: state },
  })
}

/** Terms of a change, for the ledger. */
export function termsFacts(row: MandateRow): { [name: string]: Json } {
  const { agentId, constraints, budget, notBefore, instruments, expiresAt, heartbeat } = termsOf(row)
  return {
    agent_id: agentId,
    constraints: constraints as { [name: string]: Json },
    budget: budget === null ? null : { ...budget },
    not_before: notBefore?.toISOString() ?? null,
    instruments,
    expires_at: expiresAt.toISOString(),
    heartbeat: heartbeat === null ? null : { ...heartbeat },
  }
}
