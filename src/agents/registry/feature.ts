import { defineFeature, type Platform } from '#src/platform/feature.ts'
import type { ReadActors } from '#src/platform/http/actor.ts'
import { oldRows, rowRule } from '#src/platform/retention.ts'
import { NOTES } from './notes.ts'
import { createRegistry, type RecordAudit } from './registry.ts'
import { agentRoutes } from './routes.ts'
import { purgeEndedSessions } from './session-rows.ts'
import { createAgentSessions } from './sessions.ts'
import { createSuspensions } from './suspensions.ts'

export type RegistryFeature = ReturnType<typeof registryFeature>

// After their end, as deliveries of webhooks: a quarterly reconciliation looks back three months.
const SESSION_DAYS = 90

/** Registered agents, their sessions, and why they are suspended. */
export function registryFeature(p: Platform & { readActors: ReadActors; recordAudit: RecordAudit }) {
  const suspensions = createSuspensions(p)
  const registry = createRegistry({ ...p, suspensions })
  const sessions = createAgentSessions(p)
  return defineFeature(
    {
      name: 'registry',
      data: [
        { table: 'agents', key: ['id'] },
        { table: 'agent_suspensions', key: ['agent_id', 'held_by'] },
        { table: 'agent_sessions', key: ['id'] },
      ],
      routes: agentRoutes(registry, sessions),
      notes: NOTES,
      retention: [
        rowRule(p.db, 'agent_sessions', SESSION_DAYS, purgeEndedSessions),
        // With their sessions, suspensions and locks, only where keys are published.
        rowRule(p.db, 'agents', null, oldRows({ table: 'agents', idType: 'agt', age: 'created_at' })),
      ],
    },
    { registry, sessions, suspensions },
  )
}
