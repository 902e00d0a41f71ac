import { z } from 'zod'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import { createdBetween, listQuery } from '#src/platform/http/page.ts'
import { idParams, several, timestamp } from '#src/platform/http/params.ts'
import { type Cycles, MAX_PERIOD_DAYS } from './cycles.ts'
import type { Schedules } from './schedules.ts'
import {
  dueCycleView,
  previewView,
  scheduleRequest,
  scheduleStatusView,
  scheduleView,
  toDueCycleView,
  toPreviewView,
  toRequest,
  toScheduleView,
} from './views.ts'

const reading = { scope: 'intent', permission: 'schedules.read' } as const
// What an agent may pay is not written with the agent's own scope. Pausing and cancelling only take away.
const granting = { scope: 'escalate', permission: 'schedules.write' } as const
const ending = { scope: 'intent', permission: 'schedules.write', isEmergency: true } as const

export function scheduleRoutes(schedules: Schedules, cycles: Cycles): Route[] {
  return [...readRoutes(schedules), cyclesRoute(cycles), ...changeRoutes(schedules)]
}

function readRoutes(schedules: Schedules): Route[] {
  return [
    listEndpoint(
      {
        ...reading,
        path: '/v1/schedules',
        operationId: 'listSchedules',
        sdk: 'schedules.list',
        summary: 'Standing schedules, newest first',
        query: {
          ...listQuery,
          status: several(scheduleStatusView).optional(),
          counterparty: z.string().max(200).optional().describe('Compared exactly.'),
        },
        item: scheduleView,
      },
      ({ caller, query }) => {
        const { status, counterparty } = query
        return schedules.list(caller, { status, counterparty, ...createdBetween(query) }, query)
      },
      toScheduleView,
    ),
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: '/v1/schedules/:id',
        operationId: 'getSchedule',
        sdk: 'schedules.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'One standing schedule, with its current and next cycle',
        params: idParams('sch'),
        view: scheduleView,
        status: [200],
      },
      async ({ caller, params }) => toScheduleView(await schedules.get(caller, params.id)),
    ),
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: '/v1/schedules/:id/preview',
        operationId: 'previewSchedule',
        sdk: 'schedules.preview',
        effect: 'read',
        kind: 'call',
        summary: 'The next 24 cycles of a standing schedule',
        params: idParams('sch'),
        view: previewView,
        status: [200],
      },
      async ({ caller, params }) => toPreviewView(await schedules.preview(caller, params.id)),
    ),
  ]
}

function cyclesRoute(cycles: Cycles): Route {
  return listEndpoint(
    {
      ...reading,
      path: '/v1/schedules/cycles',
      operationId: 'listScheduleCycles',
      sdk: 'schedules.cycles.list',
      summary: 'The cycles of all schedules that begin in a period',
      query: {
        limit: listQuery.limit,
        cursor: listQuery.cursor,
        from: timestamp
          .optional()
          .describe(
            `At or after; a week before today (UTC) when absent, at most ${MAX_PERIOD_DAYS} days before \`to\`.`,
          ),
        to: timestamp.optional().describe('Before; two weeks after `from` when absent.'),
      },
      item: dueCycleView,
    },
    ({ caller, query }) => cycles.list(caller, query),
    toDueCycleView,
  )
}

function changeRoutes(schedules: Schedules): Route[] {
  return [
    endpoint(
      {
        ...granting,
        method: 'POST',
        path: '/v1/schedules',
        operationId: 'createSchedule',
        sdk: 'schedules.create',
        effect: 'write',
        kind: 'call',
        summary: 'Set up a standing schedule',
        audits: 'schedule.created',
        body: scheduleRequest,
        view: scheduleView,
        status: [200],
      },
      async ({ caller, body, idempotencyKey }) =>
        toScheduleView(await schedules.create(caller, toRequest(body), idempotencyKey)),
      async ({ caller }, id) => toScheduleView(await schedules.get(caller, id)),
    ),
    endpoint(
      {
        ...ending,
        method: 'POST',
        path: '/v1/schedules/:id/pause',
        operationId: 'pauseSchedule',
        sdk: 'schedules.pause',
        effect: 'write',
        kind: 'call',
        summary: 'Pause a standing schedule, from the next decision on',
        audits: 'schedule.paused',
        params: idParams('sch'),
        view: scheduleView,
        status: [200],
      },
      async ({ caller, params, idempotencyKey }) =>
        toScheduleView(await schedules.pause(caller, params.id, idempotencyKey)),
      async ({ caller }, id) => toScheduleView(await schedules.get(caller, id)),
    ),
    endpoint(
      {
        ...granting,
        method: 'POST',
        path: '/v1/schedules/:id/resume',
        operationId: 'resumeSchedule',
        sdk: 'schedules.resume',
        effect: 'write',
        kind: 'call',
        summary: 'Resume a standing schedule that is paused',
        audits: 'schedule.resumed',
        params: idParams('sch'),
        view: scheduleView,
        status: [200],
      },
      async ({ caller, params, idempotencyKey }) =>
        toScheduleView(await schedules.resume(caller, params.id, idempotencyKey)),
      async ({ caller }, id) => toScheduleView(await schedules.get(caller, id)),
    ),
    endpoint(
      {
        ...ending,
        method: 'POST',
        path: '/v1/schedules/:id/cancel',
        operationId: 'cancelSchedule',
        sdk: 'schedules.cancel',
        effect: 'destructive',
        kind: 'call',
        summary: 'Cancel a standing schedule permanently, from the next decision on',
        audits: 'schedule.cancelled',
        params: idParams('sch'),
        view: scheduleView,
        status: [200],
      },
      async ({ caller, params, idempotencyKey }) =>
        toScheduleView(await schedules.cancel(caller, params.id, idempotencyKey)),
      async ({ caller }, id) => toScheduleView(await schedules.get(caller, id)),
    ),
  ]
}
