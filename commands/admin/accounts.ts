// `admin -- account`, `plan` and `products`.

import { type Account, SERVICE_ACCOUNT_ID } from '#src/account/keys/accounts.ts'
import { countKeysOf, setPlan, setProducts, suspendAccount, unsuspendAccount } from '#src/account/keys/operate.ts'
import { PLANS, PRODUCTS } from '#src/catalogue/access.ts'
import type { Tx } from '#src/platform/db/database.ts'
import { countJobsOf } from '#src/platform/jobs/operate.ts'
import type { Services } from '#src/services.ts'
import { MAX_LISTED, oneOf, readLimit, required, someOf, type Values } from './arguments.ts'
import type { Act, Context } from './commands.ts'
import { type OperatorAct, recordOperatorAct } from './record.ts'

export function readAccountCreate({ name: given, plan: wanted }: Values): Act {
  const name = required('--name', given)
  const plan = wanted === undefined ? 'developer' : oneOf('--plan', wanted, PLANS)
  return async ({ services, log }) =>
    services.account.accounts.create({ name, plan }, (tx, account) =>
      recordOperatorAct(
        tx,
        {
          act: 'account create',
          account: account.id,
          action: 'account.created',
          after: { name, plan },
          details: { plan },
        },
        log,
      ),
    )
}

export function readAccountList({ suspended: isSuspended, closed: isClosed, limit: given, before }: Values): Act {
  const limit = readLimit(given, MAX_LISTED)
  return async ({ services, say }) => {
    if (before !== undefined) await findAccount(services, before)
    const found = await services.account.accounts.list({ before, isSuspended, isClosed, limit: limit + 1 })
    const accounts = found.slice(0, limit)
    if (found.length > limit) say(`There are more: --before ${accounts.at(-1)?.id}`)
    return accounts.map(({ suspensionReason: _reason, ...account }) => ({
      ...account,
      products: account.products.join(','),
    }))
  }
}

export function readAccountShow(_: Values, word: string | undefined): Act {
  const id = required('ACCOUNT_ID', word)
  return async ({ services }) => {
    const account = await findAccount(services, id)
    return services.platform.db.system('show account', async (tx) => {
      const keys = await countKeysOf(tx, id)
      return { ...account, products: account.products.join(','), keys, jobs: await countJobsOf(tx, id) }
    })
  }
}

export function readAccountSuspend({ reason: given }: Values, word: string | undefined): Act {
  const id = required('ACCOUNT_ID', word)
  const reason = required('--reason', given)
  return async (context) => {
    const { name } = await findAccount(context.services, id)
    if (id === SERVICE_ACCOUNT_ID) throw new Error(`${id} sends the mails of people without an account: it stays.`)
    await context.confirm(
      `Suspend ${id} ("${name}")? Every request with its keys is refused from now on, and its jobs and webhook deliveries wait.`,
    )
    return change(
      context,
      { account: id, act: 'account suspend', action: 'account.suspended', after: {}, details: { reason } },
      (tx) => suspendAccount(tx, id, reason),
    )
  }
}

export function readAccountUnsuspend(_: Values, word: string | undefined): Act {
  const id = required('ACCOUNT_ID', word)
  return (context) =>
    change(
      context,
      { account: id, act: 'account unsuspend', action: 'account.unsuspended', after: {}, details: {} },
      (tx) => unsuspendAccount(tx, id),
    )
}

export function readAccountReopen(_: Values, word: string | undefined): Act {
  const id = required('ACCOUNT_ID', word)
  return async ({ services, log }) => {
    await findAccount(services, id)
    await services.account.closure.reopenFor(id, (tx, closedAt) =>
      recordOperatorAct(
        tx,
        {
          account: id,
          act: 'account reopen',
          action: 'account.reopened',
          before: { closed_at: closedAt.toISOString() },
          after: {},
        },
        log,
      ),
    )
    return shown(await findAccount(services, id))
  }
}

export function readPlanSet({ account }: Values, word: string | undefined): Act {
  const id = required('--account', account)
  const plan = oneOf('PLAN', required('PLAN', word), PLANS)
  return async (context) => {
    const { name, plan: old } = await findAccount(context.services, id)
    if (PLANS.indexOf(plan) < PLANS.indexOf(old)) {
      await context.confirm(`Move ${id} ("${name}") down from ${old} to ${plan}? It loses what only ${old} has.`)
    }
    return context.services.platform.db.system('plan set', async (tx) => {
      const { account: changed, before } = await setPlan(tx, id, plan)
      const act = { account: id, act: 'plan set', action: 'plan.changed' } as const
      const details = { before: { plan: before }, after: { plan }, details: { from: before, to: plan } }
      if (before !== plan) await recordOperatorAct(tx, { ...act, ...details }, context.log)
      return shown(changed)
    })
  }
}

export function readProductsSet({ account }: Values, word: string | undefined): Act {
  const id = required('--account', account)
  const products = someOf('PRODUCTS', required('PRODUCTS', word), PRODUCTS)
  return async (context) => {
    const { name, products: old } = await findAccount(context.services, id)
    const lost = old.filter((product) => !products.includes(product))
    if (lost.length > 0) await context.confirm(`Take ${lost.join(' and ')} away from ${id} ("${name}")?`)
    return change(
      context,
      {
        account: id,
        act: 'products set',
        action: 'products.changed',
        before: { products: old },
        after: { products },
        details: { from: old, to: products },
      },
      (tx) => setProducts(tx, id, products),
    )
  }
}

export async function findAccount(services: Services, id: string): Promise<Account> {
  const account = await services.account.accounts.find(id)
  if (account === undefined) throw new Error(`There is no account ${id}.`)
  return account
}

async function change(
  { services, log }: Context,
  act: OperatorAct,
  work: (tx: Tx) => Promise<Account>,
): Promise<object> {
  return services.platform.db.system(act.act, async (tx) => {
    const changed = await work(tx)
    await recordOperatorAct(tx, act, log)
    return shown(changed)
  })
}

function shown({ products, ...account }: Account): object {
  return { ...account, products: products.join(',') }
}
