import type { Note } from '#src/platform/http/openapi.ts'
import { COUNT_CAP } from './rows.ts'

const counted = (count: number) => ({ count, capped: false })

export const NOTES: Record<string, Note> = {
  'GET /v1/overview': {
    description: `Counts what waits for the caller, in one environment. Each part is shown to those who may call the route that lists its rows; another part is null, and \`not_readable\` names it. Counts go to ${COUNT_CAP.toLocaleString('en')}. See [the overview]({base_url}/docs/reference/overview).`,
    answers: {
      200: {
        example: {
          environment: 'live',
          cases: { unassigned: counted(12), mine: counted(4), overdue: counted(2) },
          approvals: { awaiting: counted(3) },
          captures: { running_batches: counted(1), failed_jobs: counted(0) },
          screenings: { running_batches: counted(0), failed_jobs: counted(0) },
          traces: { failed_jobs: counted(0) },
          webhooks: null,
          devices: {
            expiring_devices: { count: COUNT_CAP, capped: true },
            expiring_root_cas: counted(1),
            expiring_anchors: counted(0),
          },
          agents: { suspended: counted(1), held_by_lock: counted(1) },
          locks: { locked: counted(1) },
          stop: { stopped_at: null },
          keys: null,
          usage: { notice: 'usage_80' },
          not_readable: ['webhooks', 'keys'],
        },
      },
    },
  },
}
