import { z } from 'zod'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { listQuery } from '#src/platform/http/page.ts'
import { visibleText } from '#src/platform/http/params.ts'
import { parseIfMatch } from '#src/platform/http/request-headers.ts'
import { replyVersioned } from '#src/platform/http/versions.ts'
import type { PlanChanges } from './plan.ts'
import type { Usage } from './usage.ts'
import {
  accountView,
  planName,
  planView,
  statementView,
  toAccountView,
  toPlanView,
  toStatementView,
  toUsageView,
  usageView,
} from './views.ts'

const common = { scope: 'admin', needsAccountKey: true, isAccountLevel: true } as const

export function usageRoutes(usage: Usage, changes: PlanChanges): Route[] {
  async function currentPlan(accountId: string) {
    const use = await usage.month(accountId)
    if (use.allowance === undefined) throw new Error('the current month has no allowance')
    return toPlanView(use.allowance.plan, use)
  }

  const currentAccount = async (accountId: string) => replyVersioned(toAccountView(await usage.account(accountId)))

  return [
    endpoint(
      {
        ...common,
        method: 'GET',
        path: '/v1/account',
        operationId: 'getAccount',
        sdk: 'account.retrieve',
        effect: 'read',
        kind: 'call',
        permission: 'account.read',
        summary: 'The account, its limits and its notices',
        view: accountView,
        status: [200],
      },
      ({ caller }) => currentAccount(caller.accountId),
    ),
    endpoint(
      {
        ...common,
        method: 'PATCH',
        path: '/v1/account',
        operationId: 'updateAccount',
        sdk: 'account.update',
        effect: 'write',
        kind: 'call',
        permission: 'account.write',
        audits: 'account.renamed',
        summary: 'Rename the account',
        body: z.strictObject({ name: visibleText(200).describe('For people, in mails and pages.') }),
        view: accountView,
        status: [200],
      },
      async ({ caller, body, header, idempotencyKey }) => {
        await changes.rename(caller, body.name, idempotencyKey, parseIfMatch(header('If-Match')))
        return currentAccount(caller.accountId)
      },
      ({ caller }) => currentAccount(caller.accountId),
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: '/v1/account/usage',
        operationId: 'getUsage',
        sdk: 'account.usage.retrieve',
        effect: 'read',
        kind: 'call',
        permission: 'usage.read',
        summary: 'What the account has used in a month, per operation and day',
        query: z.object({
          month: z
            .string()
            .regex(/^20[0-9]{2}-(?:0[1-9]|1[0-2])$/, 'must be a month, such as 2026-11')
            .optional()
            .meta({ description: 'In UTC; the current one when absent.' }),
        }),
        view: usageView,
        status: [200],
      },
      async ({ caller, query }) => toUsageView(await usage.month(caller.accountId, query.month)),
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        path: '/v1/account/plan',
        operationId: 'getPlan',
        sdk: 'account.plan.retrieve',
        effect: 'read',
        kind: 'call',
        permission: 'account.read',
        summary: 'The plan, what is used of it this month, and the other plans',
        view: planView,
        status: [200],
      },
      async ({ caller }) => currentPlan(caller.accountId),
    ),
    endpoint(
      {
        isAccountLevel: true,
        method: 'PUT',
        audits: 'plan.changed',
        path: '/v1/account/plan',
        operationId: 'lowerPlan',
        sdk: 'account.plan.update',
        effect: 'write',
        kind: 'call',
        permission: 'plan.write',
        summary: 'Change to a smaller plan',
        body: z.strictObject({
          plan: planName,
          confirm: z.boolean().optional().describe('Without it the answer says what the change brings.'),
        }),
        view: planView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey }) => {
        await changes.change(caller, { plan: body.plan, isConfirmed: body.confirm === true }, idempotencyKey)
        return currentPlan(caller.accountId)
      },
      async ({ caller }) => currentPlan(caller.accountId),
    ),
    listEndpoint(
      {
        ...common,
        path: '/v1/account/invoices',
        operationId: 'listStatements',
        sdk: 'account.invoices.list',
        permission: 'usage.read',
        summary: 'Monthly statements, newest first, from the first month of the account on',
        query: { limit: listQuery.limit, cursor: listQuery.cursor, include: listQuery.include },
        item: statementView,
      },
      ({ caller, query }) => usage.statements(caller.accountId, query),
      toStatementView,
    ),
  ]
}
