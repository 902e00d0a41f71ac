import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { createPolledWaits } from '#src/platform/polled-waits.ts'
import { oldRows, rowRule } from '#src/platform/retention.ts'
import type { PasskeysFeature } from '../passkeys/feature.ts'
import type { IntentPolicyFeature } from '../policy/feature.ts'
import { createApprovals } from './approvals.ts'
import { createDeciding } from './decide.ts'
import { EVENTS, NOTES } from './notes.ts'
import { createOpening } from './open.ts'
import { findEnded } from './resolution-rows.ts'
import { createResolutions } from './resolutions.ts'
import { approvalRoutes } from './routes.ts'
import { SEALED_APPROVALS } from './sealed.ts'

export type ApprovalsFeature = ReturnType<typeof approvalsFeature>

// Approvals are kept as long as their tokens.
const APPROVAL_DAYS = 31
const TELL_EVERY_MS = 2_000

type Below = Pick<PasskeysFeature, 'assertions'> & Pick<IntentPolicyFeature, 'readPolicy'>

/** People approve the actions of agents. */
export function approvalsFeature(p: Platform, { assertions, readPolicy }: Below) {
  const waits = createPolledWaits({ db: p.db, reason: 'awaited approvals', find: findEnded })
  p.onClose(waits.close, 'waits for approvals')
  const opening = createOpening({ ...p, readPolicy })
  const resolutions = createResolutions(p)
  const deciding = createDeciding({ ...p, readPolicy, assertions })
  const approvals = createApprovals({ ...p, readPolicy, deciding, assertions, waits })
  return defineFeature(
    {
      name: 'approvals',
      data: [
        {
          table: 'approvals',
          key: ['id'],
          secrets: ['sealed_description', 'sealed_payload'],
        },
        { table: 'approval_votes', key: ['approval_id', 'user_id'] },
      ],
      sealed: [...SEALED_APPROVALS],
      routes: approvalRoutes(approvals, p.baseUrl),
      notes: NOTES,
      events: EVENTS,
      tasks: [{ name: 'approvals that ended', everyMs: TELL_EVERY_MS, start: () => resolutions.tellEnded }],
      retention: [
        rowRule(p.db, 'approvals', APPROVAL_DAYS, oldRows({ table: 'approvals', idType: 'apr', age: 'expires_at' })),
      ],
    },
    {
      approvals,
      openApproval: opening.openApproval,
      cancelApprovals: resolutions.cancelApprovals,
      tellEnded: resolutions.tellEnded,
    },
  )
}
