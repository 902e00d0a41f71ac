import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { rowRule } from '#src/platform/retention.ts'
import type { ApprovalsFeature } from '../approvals/feature.ts'
import { EVENTS, NOTES } from './notes.ts'
import { createRevocations } from './revocations.ts'
import { revocationRoutes } from './routes.ts'
import { purgeEndedRevocations, purgeRevocations } from './rows.ts'
import { createStops } from './stop.ts'
import { purgeStops } from './stop-rows.ts'

export type RevocationsFeature = ReturnType<typeof revocationsFeature>

// Revocations are kept as long as the tokens that they ended.
const REVOCATION_DAYS = 31

/** Ends tokens before they expire, and stops an account. */
export function revocationsFeature(p: Platform, { cancelApprovals }: Pick<ApprovalsFeature, 'cancelApprovals'>) {
  const revocations = createRevocations({ ...p, cancelApprovals })
  const stops = createStops(p)
  return defineFeature(
    {
      name: 'revocations',
      data: [
        { table: 'revocations', key: ['id'] },
        { table: 'stops', key: ['id'] },
      ],
      routes: revocationRoutes(revocations, stops),
      notes: NOTES,
      events: EVENTS,
      retention: [
        rowRule(p.db, 'ended_revocations', REVOCATION_DAYS, purgeEndedRevocations),
        rowRule(p.db, 'revocations', null, purgeRevocations),
        rowRule(p.db, 'stops', null, purgeStops),
      ],
    },
    { revocations, stops },
  )
}
