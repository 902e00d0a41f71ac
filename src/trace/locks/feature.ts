import type { Suspensions } from '#src/agents/registry/suspensions.ts'
import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { keptByPlan, type Plans } from '#src/platform/kept-by-plan.ts'
import { oldRows, rowRule } from '#src/platform/retention.ts'
import { createLocks } from './locks.ts'
import { NOTES } from './notes.ts'
import { lockRoutes } from './routes.ts'

export { keptByPlan, type Plans }
export type LocksFeature = ReturnType<typeof locksFeature>

/** Locks of agent sessions after a canary trip. */
export function locksFeature(p: Platform, { suspensions, accounts }: { suspensions: Suspensions; accounts: Plans }) {
  const locks = createLocks({ ...p, suspensions })
  return defineFeature(
    {
      name: 'locks',
      data: [{ table: 'session_locks', key: ['id'] }],
      routes: lockRoutes(locks),
      notes: NOTES,
      retention: [
        keptByPlan(p, accounts, 'session_locks', oldRows({ table: 'session_locks', idType: 'lck', age: 'cleared_at' })),
        // Live ones too, only where keys are published.
        rowRule(
          p.db,
          'live_session_locks',
          null,
          oldRows({ table: 'session_locks', idType: 'lck', age: 'created_at' }),
        ),
      ],
    },
    { locks },
  )
}
