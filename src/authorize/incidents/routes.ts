import { z } from 'zod'
import { IDS, listed } from '#src/catalogue/examples.ts'
import { endpoint, listEndpoint, type Route } from '#src/platform/http/endpoint.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { pageQuery } from '#src/platform/http/page.ts'
import { timestampView as time } from '#src/platform/http/views.ts'
import type { Incidents } from './incidents.ts'
import { INCIDENT_KINDS } from './report.ts'
import type { IncidentReportRow } from './rows.ts'

const PATH = '/v1/clinical/incident-reports'
const reading = { scope: 'admin', permission: 'orders.read', needsAccountKey: true } as const

const kind = z.enum(INCIDENT_KINDS).meta({
  id: 'IncidentKind',
  description:
    'excluded_attempt: an excluded clinician was to sign, or an order of one to be executed. override: a person cleared a match ' +
    'with an exclusion list, or replaced a list against its checks.',
})
const incidentView = z
  .object({
    kind,
    decision_id: z.string(),
    at: time,
    reason: z.string().describe('The act or the refusal, as the ledger names it.'),
    subject_id: z.string().nullable().describe('The order, the prescriber, the import or the review.'),
    cause: z.string().nullable().describe('Why an act was refused or done, such as the code of the refusal.'),
  })
  .meta({ id: 'Incident' })
const count = z.number().int()
const reportView = z
  .object({
    day: z.iso.date().describe('Day in UTC.'),
    counts: z
      .object({
        failed_signature: count,
        excluded_attempt: count,
        refused_act: count,
        override: count,
        tier_change: count,
        list_change: count,
        policy_change: count,
      })
      .meta({ id: 'IncidentCounts' }),
    incidents: z.array(incidentView).describe('The first thousand, oldest first.'),
    omitted: count.describe('How many more there were: the ledger has them.'),
    created_at: time,
  })
  .meta({ id: 'IncidentReport' })

const toView = ({ day, report, createdAt }: IncidentReportRow) => ({
  day,
  ...report,
  created_at: createdAt.toISOString(),
})

const EXAMPLE = {
  day: '2026-11-20',
  counts: {
    failed_signature: 1,
    excluded_attempt: 0,
    refused_act: 0,
    override: 0,
    tier_change: 0,
    list_change: 0,
    policy_change: 0,
  },
  incidents: [
    {
      kind: 'failed_signature',
      decision_id: IDS.decision,
      at: '2026-11-20T15:02:10.000Z',
      reason: 'order_signature_refused',
      subject_id: 'ord_test_01m7x7k8d2e6ts0a9n3v8wq5hc',
      cause: 'challenge_expired',
    },
  ],
  omitted: 0,
  created_at: '2026-11-21T00:12:00.000Z',
}

export const NOTES: Record<string, Note> = {
  [`GET ${PATH}`]: {
    description:
      'One for each day in UTC from the first prescriber on, also where nothing happened; kept for two years. As NDJSON, all of ' +
      'them. See the [guide]({base_url}/docs/authorize/clinical#orders).',
    answers: { 200: { example: listed(EXAMPLE) } },
  },
  [`GET ${PATH}/:day`]: {
    description: 'It is written soon after midnight in UTC, and never changes.',
    answers: { 200: { example: EXAMPLE } },
    problems: ['not_found'],
  },
}

export function incidentRoutes(incidents: Incidents): Route[] {
  return [
    listEndpoint(
      {
        ...reading,
        path: PATH,
        operationId: 'listIncidentReports',
        sdk: 'clinical.incidentReports.list',
        summary: 'List the daily incident reports of clinician orders, newest first',
        query: pageQuery,
        item: reportView,
      },
      ({ caller, query }) => incidents.list(caller, query),
      toView,
    ),
    endpoint(
      {
        ...reading,
        method: 'GET',
        path: `${PATH}/:day`,
        operationId: 'getIncidentReport',
        sdk: 'clinical.incidentReports.retrieve',
        effect: 'read',
        kind: 'call',
        summary: 'Read the incident report of one day',
        params: z.object({
          day: z.string().meta({ description: 'Day in UTC.', pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' }),
        }),
        view: reportView,
        status: [200],
      },
      async ({ caller, params }) => toView(await incidents.get(caller, params.day)),
    ),
  ]
}
