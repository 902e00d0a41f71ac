import { z } from 'zod'
import { Failure, invalidField } from '#src/failure.ts'
import { type Caller, endpoint, listEndpoint, type Route, reply } from '#src/platform/http/endpoint.ts'
import { createdBetween, listQuery, orderQuery, pageQuery } from '#src/platform/http/page.ts'
import { flag, idParams, mailAddress, several, timestamp, visibleText } from '#src/platform/http/params.ts'
import { checkId, type Scope } from '#src/platform/ids.ts'
import type { Cases } from './cases.ts'
import { type CaseState, isNoteTooShort, MIN_NOTE_LENGTH, OTHER_NEEDS_NOTE, STATES } from './machine.ts'
import { CASE_ORDERS, type CaseFilter, type CaseOrder, type CaseRow } from './rows.ts'
import { caseView, entryView, priorityView, reasonView, statusView } from './views.ts'

const named = mailAddress
  .optional()
  .describe('The person who acts. Required with an API key. A session acts for its own user, and this is ignored.')
const note = visibleText(5_000)
const version = z
  .number()
  .int()
  .min(1)
  .max(2 ** 31 - 1)

const assignee = visibleText(200).describe(
  'The `user_id` of a member who may work on cases; with an API key also any label.',
)

const openRequest = z.strictObject({
  claim_id: z.string().max(64),
  actor: named,
  assignee: assignee.optional(),
  priority: priorityView.default('normal'),
  note: note.optional(),
})
const transitionRequest = z
  .strictObject({
    to: statusView,
    reason_code: reasonView.nullish(),
    note: note.optional(),
    actor: named,
    assignee: assignee.optional(),
    version: version.optional(),
  })
  .superRefine((wish, context) => {
    const { to, reason_code: reasonCode = null, note: said = null } = wish
    if (!isNoteTooShort({ to, reasonCode, note: said })) return
    const message = reasonCode === 'other' ? OTHER_NEEDS_NOTE : `To become ${to}, the case needs a note.`
    context.addIssue({ code: 'custom', path: ['note'], message, params: { minimum: MIN_NOTE_LENGTH } })
  })
const noteRequest = z.strictObject({ actor: named, note })
const changeRequest = z
  .strictObject({
    actor: named,
    version: version.optional(),
    assignee: assignee.nullable().optional(),
    priority: priorityView.optional(),
    due_at: timestamp.optional(),
  })
  .refine(
    ({ assignee, priority, due_at }) => assignee !== undefined || priority !== undefined || due_at !== undefined,
    'must change assignee, priority or due_at',
  )

const assigneeFilter = z
  .string()
  .min(1)
  .max(200)
  .describe('`me`: cases of the user of the session. `none`: cases without an assignee.')
const countsView = z
  .object({
    object: z.literal('case_counts'),
    by_status: z
      .object(Object.fromEntries(STATES.map((state) => [state, z.number().int()])) as Record<CaseState, z.ZodNumber>)
      .meta({ id: 'CaseStatusCounts' }),
  })
  .meta({ id: 'CaseCounts' })

const common = { scope: 'escalate', permission: 'cases.write' } as const

export function caseRoutes(cases: Cases): Route[] {
  const shown = async (caller: Caller, row: CaseRow) => {
    const [view] = await cases.show(caller, [row])
    if (view === undefined) throw new Error('one case has one view')
    return view
  }
  const current = async (caller: Caller, id: string) => shown(caller, await cases.get(caller, id))

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
        const { claim_id: claimId, actor, assignee: assigned = null, priority, note: said = null } = body
        const opening = { claimId, actor, assignee: assigned, priority, note: said }
        return shown(caller, await cases.open(caller, opening, idempotencyKey))
      },
      ({ caller }, id) => current(caller, id),
    ),
    listEndpoint(
      {
        ...common,
        permission: 'cases.read',
        path: '/v1/cases',
        operationId: 'listCases',
        sdk: 'cases.list',
        summary: 'List cases, newest first or by due date',
        query: {
          ...listQuery,
          ...orderQuery,
          order_by: z
            .enum(CASE_ORDERS)
            .meta({ id: 'CaseOrder' })
            .default('created')
            .describe('`created` when absent. With `due` the list has open cases only.'),
          assignee: assigneeFilter.optional(),
          status: several(statusView).optional(),
          priority: several(priorityView).optional(),
          reason_code: several(reasonView).optional(),
          claim_id: z.string().max(64).optional(),
          due_gte: timestamp.optional(),
          due_lt: timestamp.optional(),
          overdue: flag.optional(),
          claim_changed: flag.optional(),
        },
        item: caseView,
      },
      ({ caller, query }) => {
        checkClaimFilter(query.claim_id, caller)
        const filter: CaseFilter = {
          assignee: assigneeOf(query.assignee, caller),
          states: query.status,
          priorities: query.priority,
          reasonCodes: query.reason_code,
          claimId: query.claim_id,
          dueFrom: timeOf(query.due_gte),
          dueBefore: timeOf(query.due_lt),
          isOverdue: query.overdue === undefined ? undefined : query.overdue === 'true',
          isClaimChanged: query.claim_changed === undefined ? undefined : query.claim_changed === 'true',
          ...createdBetween(query),
        }
        const order: CaseOrder = { by: query.order_by, direction: query.order }
        return cases.list(caller, filter, { ...query, order })
      },
    ),
    endpoint(
      {
        ...common,
        method: 'GET',
        permission: 'cases.read',
        path: '/v1/cases/counts',
        operationId: 'countCases',
        sdk: 'cases.counts.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'Count cases by status',
        query: z.object({ assignee: assigneeFilter.optional() }),
        view: countsView,
        status: [200],
      },
      async ({ caller, query }) => ({
        object: 'case_counts' as const,
        by_status: await cases.count(caller, { assignee: assigneeOf(query.assignee, caller) }),
      }),
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
        summary: 'Read one case',
        view: caseView,
        status: [200],
      },
      ({ caller, params }) => current(caller, params.id),
    ),
    listEndpoint(
      {
        ...common,
        permission: 'cases.read',
        path: '/v1/cases/:id/entries',
        operationId: 'listCaseEntries',
        sdk: 'cases.entries.list',
        params: idParams('cas'),
        summary: 'Read the history of a case, newest first',
        query: pageQuery,
        item: entryView,
      },
      ({ caller, params, query }) => cases.listEntries(caller, params.id, query),
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
        summary: 'Change the status of a case',
        body: transitionRequest,
        view: caseView,
        // 202: the first of two adjusters has proposed it, and the status does not change.
        status: [200, 202],
      },
      async ({ caller, params, body, idempotencyKey }) => {
        const { to, reason_code, note: said = null, actor, version: decidedOn } = body
        const wish = {
          to,
          reasonCode: reason_code ?? null,
          note: said,
          actor,
          assignee: body.assignee,
          version: decidedOn,
        }
        const { row, isProposed } = await cases.transition(caller, params.id, wish, idempotencyKey)
        return reply(isProposed ? 202 : 200, await shown(caller, row))
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
        shown(caller, await cases.addNote(caller, params.id, body, idempotencyKey)),
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
        const { actor, priority, version: decidedOn } = body
        const changes = { actor, assignee: body.assignee, priority, dueAt: timeOf(body.due_at), version: decidedOn }
        return shown(caller, await cases.update(caller, params.id, changes, idempotencyKey))
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

function assigneeOf(wanted: string | undefined, { principal }: Caller): string | null | undefined {
  if (wanted === 'none') return null
  if (wanted !== 'me') return wanted
  if (principal.kind === 'session') return principal.userId
  throw invalidField('?assignee', 'not_allowed', 'may be me only in a user’s session: an API key is no person')
}

function timeOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text)
}
