import { z } from 'zod'
import { actorView } from '#src/platform/http/actor.ts'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { timestampView } from '#src/platform/http/views.ts'
import type { Closure, ShownClosure } from './closure.ts'

const closureView = z
  .object({
    account_id: z.string(),
    closed_at: timestampView.nullable().describe('null: the account is open.'),
    closed_by: actorView.nullable(),
    erased_after: timestampView.nullable().describe('The closure can be undone until then.'),
  })
  .meta({ id: 'AccountClosure' })

const common = {
  permission: 'account.close',
  isAccountLevel: true,
  path: '/v1/account/closure',
  view: closureView,
} as const

export function closureRoutes(closure: Closure): Route[] {
  return [
    endpoint(
      {
        ...common,
        status: [200],
        method: 'GET',
        operationId: 'getAccountClosure',
        sdk: 'account.closure.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'Whether the account is closed, and when it is erased',
      },
      async ({ caller }) => toView(await closure.find(caller)),
    ),
    endpoint(
      {
        ...common,
        status: [200],
        method: 'POST',
        operationId: 'closeAccount',
        sdk: 'account.close',
        effect: 'destructive',
        kind: 'call',
        summary: 'Close the account. It is erased after 30 days, and until then this can be undone.',
        audits: 'account.closed',
        isOpenWhenClosed: true,
        body: z.strictObject({ confirm: z.string().max(200).describe('The name or the id of the account.') }),
      },
      async ({ caller, body, idempotencyKey }) => toView(await closure.close(caller, body.confirm, idempotencyKey)),
      async ({ caller }) => toView(await closure.find(caller)),
    ),
    endpoint(
      {
        ...common,
        status: [200],
        method: 'DELETE',
        operationId: 'reopenAccount',
        sdk: 'account.reopen',
        effect: 'write',
        kind: 'call',
        summary: 'Undo the closure of the account',
        audits: 'account.reopened',
        isOpenWhenClosed: true,
      },
      async ({ caller, idempotencyKey }) => toView(await closure.reopen(caller, idempotencyKey)),
      async ({ caller }) => {
        await closure.release(caller.accountId)
        return toView(await closure.find(caller))
      },
    ),
  ]
}

function toView({ accountId, closedAt, closer, erasedAfter }: ShownClosure): z.input<typeof closureView> {
  return {
    account_id: accountId,
    closed_at: closedAt?.toISOString() ?? null,
    closed_by: closer,
    erased_after: erasedAfter?.toISOString() ?? null,
  }
}
