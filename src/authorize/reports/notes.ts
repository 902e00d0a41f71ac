import { IDS, listed } from '#src/catalogue/examples.ts'
import type { Note } from '#src/platform/http/openapi.ts'
import { MAX_COUNTED } from './decision-days.ts'
import { MAX_ENTRIES } from './reports.ts'

const JTI = IDS.decision.replace('dec', 'jti')
const MANDATE = IDS.decision.replace('dec', 'mnd')
const APPROVAL = IDS.decision.replace('dec', 'apr')
const ageClass = (from: number, to: number | null, counts: Record<string, number> = {}) => {
  const all = { pending: 0, approved: 0, denied: 0, expired: 0, cancelled: 0, ...counts }
  const total = Object.values(all).reduce((sum, count) => sum + count, 0)
  return { from_seconds: from, to_seconds: to, total, by_status: all }
}
const guide = 'See [reports]({base_url}/docs/authorize/reports).'

export const NOTES: Record<string, Note> = {
  'GET /v1/analytics/decisions': {
    description: `Counts the entries \`verify\` and \`execute\` of the ledger by day and reason. A period of more than ${MAX_COUNTED.toLocaleString('en')} of them is refused with \`range_too_large\`: ask for a shorter one. See [analytics]({base_url}/docs/reference/analytics).`,
    answers: {
      200: {
        example: {
          from: '2026-11-19T00:00:00.000Z',
          to: '2026-11-20T00:00:00.000Z',
          total: 1_287,
          counts: [
            { day: '2026-11-19', kind: 'verify', reason: null, decisions: 611 },
            { day: '2026-11-19', kind: 'verify', reason: 'approval_pending', decisions: 82 },
            { day: '2026-11-19', kind: 'execute', reason: null, decisions: 594 },
          ],
        },
      },
    },
  },
  'GET /v1/analytics/mandate-spend': {
    description: `Adds up the executions of the ledger. An execution counts at its own time, under the mandate of its token and not under that one's parents; what its outcome gave back is \`released\`. A range of more than ${MAX_ENTRIES.toLocaleString('en')} executions is refused with \`range_too_large\`: ask for shorter ones. ${guide}`,
    answers: {
      200: {
        example: listed({
          mandate_id: MANDATE,
          period_start: '2026-11-01',
          currency: 'EUR',
          executions: 17,
          charged: '1840.5',
          released: '120',
          spent: '1720.5',
        }),
      },
    },
  },
  'GET /v1/analytics/approvals': {
    description: `Of the approvals that were asked for in the range, how many were pending, approved, denied, expired or cancelled in each class of age: the time until they ended, or until now. ${guide}`,
    answers: {
      200: {
        example: {
          from: '2026-11-01T00:00:00.000Z',
          to: '2026-12-01T00:00:00.000Z',
          age_classes: [
            ageClass(0, 300, { approved: 31, denied: 2 }),
            ageClass(300, 3_600, { approved: 12, pending: 3 }),
            ageClass(3_600, 14_400, { expired: 4 }),
            ageClass(14_400, 86_400),
            ageClass(86_400, 259_200, { cancelled: 1 }),
            ageClass(259_200, null),
          ],
          seconds_to_decide: { p50: 74.2, p95: 1_310.7 },
          oldest_pending: { approval_id: APPROVAL, asked_at: '2026-11-30T23:21:09.114Z' },
        },
      },
    },
  },
  'GET /v1/analytics/unexecuted': {
    description: `Tokens of the range that no verification has executed, each with the last verification that was asked about it. Let \`to\` lie far enough back that they have expired. A page reads a bounded number of authorizations: it may have fewer than \`limit\`, or none, and still a \`next_cursor\`. ${guide}`,
    answers: {
      200: {
        example: listed({
          jti: JTI,
          decision_id: IDS.decision,
          authorized_at: '2026-11-20T15:11:04.310Z',
          preflight_reason: null,
          agent_id: IDS.agent,
          agent_session_id: IDS.agentSession,
          device_id: IDS.device,
          mandate_id: MANDATE,
          schedule_id: null,
          approval_id: null,
          last_verification: {
            decision_id: IDS.decision,
            at: '2026-11-20T15:11:09.002Z',
            valid: false,
            reason: 'mandate_budget_exceeded',
          },
        }),
      },
    },
  },
}
