import { IDS, listed } from '#src/catalogue/examples.ts'
import { METERED_NAMES } from '#src/catalogue/metered.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { IF_MATCH } from '#src/platform/http/versions.ts'
import { toPlanView } from './views.ts'

const resetsAt = new Date('2026-12-01T00:00:00.000Z')
const allowance = { plan: 'growth', cap: 100_000, isHardCap: true, remaining: 18_765, percent: 81.2 } as const
const use = { month: '2026-11', resetsAt, used: 81_235, allowance, operations: [] }
const plan = toPlanView('growth', use)

const account = {
  account_id: IDS.account,
  name: 'Example Insurance',
  plan: 'growth',
  products: ['attest', 'authorize', 'trace'],
  created_at: '2026-03-02T09:15:00.000Z',
  closed_at: null,
  erased_after: null,
  environments: [
    { environment: 'sandbox', is_metered: false },
    { environment: 'live', is_metered: true },
  ],
  limits: plan.limits,
  notices: [
    {
      kind: 'usage_80',
      month: '2026-11',
      plan: 'growth',
      cap: 100_000,
      used: 80_004,
      created_at: '2026-11-20T15:11:04.310Z',
    },
  ],
  version: 3,
}

const UNITS: Partial<Record<string, number>> = { attest: 80_000, screen: 1_235 }
const operations = METERED_NAMES.map((operation) => ({ operation, units: UNITS[operation] ?? 0 }))

export const NOTES: Record<string, Note> = {
  'GET /v1/account': {
    description: 'Takes any key that has the scope, of either environment, or a session of any role.',
    answers: { 200: { example: account } },
  },
  'PATCH /v1/account': {
    description: 'Takes a live key, or a session. People see the name; the id of the account stays.',
    examples: { 'Another name': { name: 'Example Insurance Group' } },
    answers: { 200: { example: { ...account, name: 'Example Insurance Group', version: 4 } } },
    headers: IF_MATCH,
    problems: ['precondition_failed'],
  },
  'GET /v1/account/usage': {
    description:
      'Counts successful operations of the live environment up to now. The sandbox is not metered. An operation that ' +
      'is given back (a line of a batch that can not be evaluated, or is cancelled before) is subtracted on the day ' +
      'on which it is given back.',
    answers: {
      200: {
        example: {
          ...plan.usage,
          operations: operations.map((one) => ({
            ...one,
            days: one.units === 0 ? [] : [{ day: '2026-11-20', units: one.units }],
          })),
        },
      },
    },
  },
  'GET /v1/account/plan': {
    description: '`change` says who can change to a plan: the owner, or the operator of the service.',
    answers: { 200: { example: plan } },
  },
  'PUT /v1/account/plan': {
    description:
      'A smaller plan takes effect with the next request. Without `confirm` the answer is a `conflict` whose `errors` say ' +
      'what the change brings: fewer operations and requests, histories that are deleted, and after the plan enterprise no ' +
      'users beside the owner. For a larger plan ask the operator of the service.',
    examples: {
      'Ask what it brings': { plan: 'developer' },
      'Change to it': { plan: 'developer', confirm: true },
    },
    answers: { 200: { example: plan } },
    problems: ['conflict', 'not_found'],
  },
  'GET /v1/account/invoices': {
    description:
      'A statement has units per metered operation, computed from the usage. It has no amounts: prices are agreed ' +
      'with the operator of the service. The statement of the current month is `open`.',
    answers: {
      200: {
        example: listed({
          month: '2026-11',
          from: '2026-11-01T00:00:00.000Z',
          to: '2026-12-01T00:00:00.000Z',
          status: 'open',
          operations,
          total_units: 81_235,
          payment_processor: 'none',
          payment: null,
        }),
      },
    },
  },
}
