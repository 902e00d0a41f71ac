import { z } from 'zod'
import { Failure, invalidField } from '#src/failure.ts'
import { endpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import { listOf, listQuery } from '#src/platform/http/page.ts'
import { idParams, mailAddress, timestamp, visibleText } from '#src/platform/http/params.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import type { Cases } from './cases.ts'
import { isNoteTooShort, MIN_NOTE_LENGTH, OTHER_NEEDS_NOTE } from './machine.ts'
import type { CaseFilter } from './rows.ts'
import { caseView, entryView, priorityView, reasonView, stateView, toCaseView, toEntryView } from './views.ts'

const named = mailAddress
  .optional()
  .describe('The person who acts. Required with an API key. A session acts for its own user, and this is ignored.')
const note = visibleText(5_000)
const version = z
  .number()
  .int()
  .min(1)
  .max(2 ** 31 - 1)

const openRequest = z.strictObject({
  claim_id: z.string().max(64),
  actor: named,
  assignee: mailAddress.optional(),
  priority: priorityView.default('normal'),
  note: note.optional(),
})
const transitionRequest = z
  .strictObject({
    to: stateView,
    reason_code: reasonView.nullish(),
    note: note.optional(),
    actor: named,
    assignee: mailAddress.optional(),
    version: version.optional(),
  })
  .superRefine((wish, context) => {
    const { to, reason_code: reasonCode = null, note: said = null } = wish
    if (!isNoteTooShort({ to, reasonCode, note: said })) return
    const message = reasonCode === 'other' ? OTHER_NEEDS_NOTE : `To become ${to} it needs a note.`
    context.addIssue({ code: 'custom', path: ['note'], message, params: { minimum: MIN_NOTE_LENGTH } })
  })
const noteRequest = z.strictObject({ actor: named, note })
const changeRequest = z
  .strictObject({
    actor: named,
    version: version.optional(),
    assignee: mailAddress.nullable().optional(),
    priority: priorityView.optional(),
    due_at: timestamp.optional(),
  })
  .refine(
    ({ assignee, priority, due_at }) => assignee !== undefined || priority !== undefined || due_at !== undefined,
    'must change assignee, priority or due_at',
  )

const common = { scope: 'escalate', permission: 'cases.write' } as const

export function caseRoutes(cases: Cases): Route[] {
  const { now } = cases
  const current = async (scope: Scope, id: string) => toCaseView(await cases.get(scope, id), now())

  return [
    endpoint(
      {
        ...common,
        method: 'POST',
        path: '/v1/cases',
        operationId: 'openCase',
        sdk: 'cases.create',
        effect: 'write',
        kind: 'call',
        summary: 'Open a case for a claim that has no open one',
        body: openRequest,
        view: caseView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey }) => {
        const { claim_id: claimId, actor, assignee = null, priority, note: said = null } = body
        const opening = { claimId, actor, assignee, priority, note: said }
        return toCaseView(await cases.open(caller, opening, idempotencyKey), now())
      },
      ({ caller }, id) => current(caller, id),
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        permission: 'cases.read',
        path: '/v1/cases',
        operationId: 'listCases',
        sdk: 'cases.list',
        effect: 'read',
        kind: 'list',
        summary: 'Cases, newest first',
        query: z.object({
          ...listQuery,
          assignee: mailAddress.optional(),
          state: stateView.optional(),
          claim_id: z.string().max(64).optional(),
          due_before: timestamp.optional(),
          overdue: z.enum(['true', 'false']).optional(),
          claim_changed: z.enum(['true', 'false']).optional(),
        }),
        view: listOf(caseView),
        status: [200],
      },
      async ({ caller, query }) => {
        checkClaimFilter(query.claim_id, caller)
        const filter: CaseFilter = {
          assignee: query.assignee,
          state: query.state,
          claimId: query.claim_id,
          dueBefore: timeOf(query.due_before),
          isOverdue: query.overdue === undefined ? undefined : query.overdue === 'true',
          isClaimChanged: query.claim_changed === undefined ? undefined : query.claim_changed === 'true',
          createdFrom: timeOf(query.created_gte),
          createdBefore: timeOf(query.created_lt),
        }
        const { data, totalCount, ...page } = await cases.list(caller, filter, query)
        const at = now()
        return {
          ...page,
          data: data.map((row) => toCaseView(row, at)),
          ...(totalCount === undefined ? {} : { total_count: totalCount }),
        }
      },
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        permission: 'cases.read',
        path: '/v1/cases/:id',
        operationId: 'getCase',
        sdk: 'cases.retrieve',
        effect: 'read',
        kind: 'call',
        params: idParams('cas'),
        summary: 'One case with its history, newest first',
        query: z.object({ limit: listQuery.limit, cursor: listQuery.cursor }),
        view: caseView.extend({ history: listOf(entryView) }).meta({ id: 'CaseWithHistory' }),
        status: [200],
      },
      async ({ caller, params, query }) => {
        const { row, history } = await cases.read(caller, params.id, query)
        return { ...toCaseView(row, now()), history: { ...history, data: history.data.map(toEntryView) } }
      },
    ),
    endpoint(
      {
        ...common,
        method: 'POST',
        path: '/v1/cases/:id/transitions',
        operationId: 'transitionCase',
        sdk: 'cases.transition',
        effect: 'write',
        kind: 'call',
        params: idParams('cas'),
        summary: 'Change the state of a case',
        body: transitionRequest,
        view: caseView,
        // 202: the first of two adjusters has proposed it, and the state does not change.
        status: [200, 202],
      },
      async ({ caller, params, body, idempotencyKey }) => {
        const { to, reason_code, note: said = null, actor, assignee, version: decidedOn } = body
        const wish = { to, reasonCode: reason_code ?? null, note: said, actor, assignee, version: decidedOn }
        const { row, isProposed } = await cases.transition(caller, params.id, wish, idempotencyKey)
        return reply(isProposed ? 202 : 200, toCaseView(row, now()))
      },
      ({ caller }, id) => current(caller, id),
    ),
    endpoint(
      {
        ...common,
        method: 'POST',
        path: '/v1/cases/:id/notes',
        operationId: 'addCaseNote',
        sdk: 'cases.notes.create',
        effect: 'write',
        kind: 'call',
        params: idParams('cas'),
        summary: 'Add a note to the history of a case',
        body: noteRequest,
        view: caseView,
        status: [200],
      },
      async ({ caller, params, body, idempotencyKey }) =>
        toCaseView(await cases.addNote(caller, params.id, body, idempotencyKey), now()),
      ({ caller }, id) => current(caller, id),
    ),
    endpoint(
      {
        ...common,
        method: 'PATCH',
        path: '/v1/cases/:id',
        operationId: 'updateCase',
        sdk: 'cases.update',
        effect: 'write',
        kind: 'call',
        params: idParams('cas'),
        summary: 'Change the assignee, the priority or the due date of a case',
        body: changeRequest,
        view: caseView,
        status: [200],
      },
      async ({ caller, params, body, idempotencyKey }) => {
        const { actor, assignee, priority, version: decidedOn } = body
        const changes = { actor, assignee, priority, dueAt: timeOf(body.due_at), version: decidedOn }
        return toCaseView(await cases.update(caller, params.id, changes, idempotencyKey), now())
      },
      ({ caller }, id) => current(caller, id),
    ),
  ]
}

// A malformed id would match no row, and the caller would not see the typing error.
function checkClaimFilter(id: string | undefined, { environment }: Scope): void {
  try {
    if (id !== undefined) checkId(id, 'clm', environment)
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'not_found') throw error
    throw invalidField('?claim_id', 'invalid_id', error.message)
  }
}

function timeOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text)
}
