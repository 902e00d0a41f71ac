import { z } from 'zod'
import { endpoint, type Route } from '#src/platform/http/endpoint.ts'
import { timestampView } from '#src/platform/http/views.ts'
import { type CappedCount, COUNT_CAP, EXPIRY_DAYS } from './rows.ts'
import { type OverviewCounts, PART_NAMES, type WaitingParts } from './waiting.ts'

const environment = z.enum(['sandbox', 'live']).meta({ id: 'Environment' })
const count = z
  .object({
    count: z.number().int().max(COUNT_CAP),
    capped: z.boolean().describe('true: `count` reached its maximum, and there may be more.'),
  })
  .meta({ id: 'CappedCount' })

const casesPart = z
  .object({
    unassigned: count.describe('Open cases without an assignee.'),
    mine: count.nullable().describe('Open cases of the caller; null: the caller is a key.'),
    overdue: count.describe('Open cases past their due date.'),
  })
  .meta({ id: 'OverviewCases' })
const approvalsPart = z
  .object({
    awaiting: count.describe(
      'For a user: number of approvals that `GET /v1/approvals?awaiting=me` lists. For a key: pending approvals.',
    ),
  })
  .meta({ id: 'OverviewApprovals' })
const workPart = z
  .object({
    running_batches: count.describe('Batches with a line that waits or runs, among the first thousand lines of each.'),
    failed_jobs: count.describe('Jobs that ended without a result. A retry continues them.'),
  })
  .meta({ id: 'OverviewBatchWork' })
const tracesPart = z
  .object({ failed_jobs: count.describe('Attributions and diffs that ended without a result.') })
  .meta({ id: 'OverviewTraces' })
const webhooksPart = z
  .object({
    failing_endpoints: count.describe('Enabled endpoints whose deliveries wait because the last ones failed.'),
    disabled_endpoints: count,
    failed_deliveries: count.describe('Deliveries that are not retried automatically.'),
  })
  .meta({ id: 'OverviewWebhooks' })
const soon = `within ${EXPIRY_DAYS} days`
const devicesPart = z
  .object({
    expiring_devices: count.describe(`Devices whose certificate ends ${soon}.`),
    expiring_root_cas: count.describe(`Root CAs that end ${soon}.`),
    expiring_anchors: count.describe(`C2PA trust anchors that end ${soon}.`),
  })
  .meta({ id: 'OverviewDevices' })
const agentsPart = z
  .object({ suspended: count.describe('Agents that a person or a key suspended.'), held_by_lock: count })
  .meta({ id: 'OverviewAgents' })
const locksPart = z.object({ locked: count }).meta({ id: 'OverviewLocks' })
const stopPart = z
  .object({ stopped_at: timestampView.nullable().describe('null: no stop is in force.') })
  .meta({ id: 'OverviewStop' })
const keysPart = z.object({ expiring: count.describe(`API keys that end ${soon}.`) }).meta({ id: 'OverviewKeys' })
const usagePart = z
  .object({
    notice: z
      .enum(['usage_80', 'usage_100'])
      .meta({ id: 'AccountNoticeKind' })
      .nullable()
      .describe('Latest notice of this month; null: none yet.'),
  })
  .meta({ id: 'OverviewUsage' })

const overviewView = z
  .object({
    environment,
    cases: casesPart.nullable(),
    approvals: approvalsPart.nullable(),
    captures: workPart.nullable(),
    screenings: workPart.nullable(),
    traces: tracesPart.nullable(),
    webhooks: webhooksPart.nullable(),
    devices: devicesPart.nullable(),
    agents: agentsPart.nullable(),
    locks: locksPart.nullable(),
    stop: stopPart.nullable(),
    keys: keysPart.nullable(),
    usage: usagePart.nullable(),
    not_readable: z
      .array(z.enum(PART_NAMES).meta({ id: 'OverviewPart' }))
      .describe('Parts that are null, because the caller may not read their rows.'),
  })
  .meta({ id: 'Overview' })

export function waitingRoutes(waiting: OverviewCounts): Route[] {
  return [
    endpoint(
      {
        method: 'GET',
        path: '/v1/overview',
        operationId: 'getOverview',
        sdk: 'overview.retrieve',
        effect: 'read',
        kind: 'call',
        takesAnyKey: true,
        needsAccountKey: true,
        permission: 'account.read',
        summary: 'Count the work that waits for you, in all products',
        view: overviewView,
        status: [200],
      },
      async ({ caller }) => toOverviewView(caller.environment, await waiting.find(caller)),
    ),
  ]
}

function toOverviewView(environment: 'sandbox' | 'live', parts: WaitingParts): z.input<typeof overviewView> {
  const { cases, approvals, captures, screenings, traces, webhooks, devices, agents, locks, keys, stop, usage } = parts
  const work = (found: { running: CappedCount; failed: CappedCount } | undefined) =>
    found === undefined ? null : { running_batches: found.running, failed_jobs: found.failed }
  return {
    environment,
    cases: cases ?? null,
    approvals: approvals === undefined ? null : { awaiting: approvals },
    captures: work(captures),
    screenings: work(screenings),
    traces: traces === undefined ? null : { failed_jobs: traces },
    webhooks:
      webhooks === undefined
        ? null
        : {
            failing_endpoints: webhooks.failing,
            disabled_endpoints: webhooks.disabled,
            failed_deliveries: webhooks.failedDeliveries,
          },
    devices:
      devices === undefined
        ? null
        : {
            expiring_devices: devices.devices,
            expiring_root_cas: devices.rootCas,
            expiring_anchors: devices.anchors,
          },
    agents: agents === undefined ? null : { suspended: agents.suspended, held_by_lock: agents.heldByLock },
    locks: locks === undefined ? null : { locked: locks },
    stop: stop === undefined ? null : { stopped_at: stop?.toISOString() ?? null },
    keys: keys === undefined ? null : { expiring: keys },
    usage: usage === undefined ? null : { notice: usage },
    not_readable: PART_NAMES.filter((name) => parts[name] === undefined),
  }
}
