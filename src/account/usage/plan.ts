// The name and the plan of an account. An owner lowers the plan here; raising it is an operator's command, because it has a price.

import { lockDetails, renameAccount } from '#src/account/keys/account-rows.ts'
import { changePlan } from '#src/account/keys/accounts.ts'
import { PLANS, type Plan } from '#src/catalogue/access.ts'
import { PLAN_LIMITS } from '#src/catalogue/plans.ts'
import { Failure, type FieldError, fieldFailure } from '#src/failure.ts'
import type { FieldErrorCode } from '#src/field-errors.ts'
import type { Database, Tx } from '#src/platform/db/database.ts'
import { checkVersion } from '#src/platform/http/documents.ts'
import { type IdempotencyKey, once } from '#src/platform/http/idempotency.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import { recordAudit } from '../audit/record.ts'
import type { Fold } from './fold.ts'
import { type MonthRow, selectMonth } from './rows.ts'

interface PlanDeps {
  db: Pick<Database, 'tenant' | 'readTenant'>
  fold: Pick<Fold, 'noteDue'>
}

export interface PlanChange {
  plan: Plan
  /** The caller has seen what the change brings. */
  isConfirmed: boolean
}

export function createPlanChanges({ db, fold }: PlanDeps) {
  /**
   * Lowers the plan. The present plan again changes nothing.
   * @throws {Failure} `conflict` for a larger plan, and for a smaller one that is not confirmed: `errors` says what the
   * change brings.
   */
  async function change(caller: Acting, wanted: PlanChange, key?: IdempotencyKey): Promise<void> {
    const { accountId } = caller
    const live = { accountId, environment: 'live' } as const
    const [[month]] = await db.readTenant<[MonthRow]>(live, [selectMonth(undefined)])
    if (month === undefined) throw new Error('Postgres returned no month')
    const used = month.days.reduce((sum, { units }) => sum + units, 0)
    const apply = async (tx: Tx) => {
      const before = await changePlan(tx, accountId, wanted.plan, (present) => {
        if (PLANS.indexOf(wanted.plan) > PLANS.indexOf(present)) throw notLower(present, wanted.plan)
        if (!wanted.isConfirmed) throw unconfirmed(effectsOf(present, wanted.plan, used))
      })
      if (before === wanted.plan) return
      await recordAudit(tx, caller, {
        action: 'plan.changed',
        subjectId: accountId,
        before: { plan: before },
        after: { plan: wanted.plan },
        isScoped: false,
      })
    }
    await db.tenant(caller, (tx) => once(tx, key, apply, () => accountId))
    // A smaller cap may make a notice due without any further use.
    await fold.noteDue({ accountId, month: `${month.month}-01` })
  }

  /**
   * The present name again changes nothing.
   * @param expected The versions that the caller expects to change; undefined for any.
   * @throws {Failure} `precondition_failed`
   */
  async function rename(
    caller: Acting,
    name: string,
    key?: IdempotencyKey,
    expected?: readonly number[],
  ): Promise<void> {
    const { accountId } = caller
    const apply = async (tx: Tx) => {
      const before = await lockDetails(tx)
      checkVersion(expected, before)
      if (before.name === name) return
      await renameAccount(tx, name)
      const act = { subjectId: accountId, before: { name: before.name }, after: { name }, isScoped: false }
      await recordAudit(tx, caller, { action: 'account.renamed', ...act })
    }
    await db.tenant(caller, (tx) => once(tx, key, apply, () => accountId))
  }

  return { change, rename }
}

export type PlanChanges = ReturnType<typeof createPlanChanges>

/** What a smaller plan takes away, in the form of findings. */
function effectsOf(before: Plan, after: Plan, used: number): FieldError[] {
  const [old, next] = [PLAN_LIMITS[before], PLAN_LIMITS[after]]
  const pointer = '/plan'
  const effects: FieldError[] = []
  const tell = (code: FieldErrorCode, detail: string) => void effects.push({ pointer, code, detail })
  tell(
    'fewer_operations',
    `includes ${numberOf(next.monthly.operations)} metered operations a month, not ${numberOf(old.monthly.operations)}`,
  )
  if (next.monthly.isHard && used >= next.monthly.operations) {
    tell('cap_reached', `${numberOf(used)} are used this month: until it ends, metered operations are refused`)
  }
  tell('lower_rate', `allows ${next.rate.perSecond} requests a second, not ${old.rate.perSecond}`)
  tell(
    'shorter_retention',
    `keeps histories for ${next.retentionDays} days, not ${old.retentionDays}: older ones are deleted`,
  )
  if (before === 'enterprise') tell('owner_only', 'has no team: users beside the owner can no longer sign in')
  return effects
}

function notLower(before: Plan, wanted: Plan): Failure {
  const detail = `is ${wanted}, which is larger than ${before}: ask the operator of the service, who runs npm run admin -- plan set`
  return fieldFailure('conflict', { pointer: '/plan', code: 'not_lower', detail })
}

function unconfirmed(effects: readonly FieldError[]): Failure {
  const confirm = {
    pointer: '/confirm',
    code: 'confirmation_required' as const,
    detail: 'must be true for a smaller plan',
  }
  return new Failure('conflict', {
    detail: 'A smaller plan must be confirmed with confirm: true. errors says what it changes.',
    errors: [confirm, ...effects],
  })
}

function numberOf(value: number): string {
  return value.toLocaleString('en')
}
