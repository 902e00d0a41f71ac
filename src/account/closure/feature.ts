import { defineFeature, type Platform, type TenantTable } from '#src/platform/feature.ts'
import { createClosure } from './closure.ts'
import { createClosedAccounts } from './erase.ts'
import { NOTES } from './notes.ts'
import { closureRoutes } from './routes.ts'

export type ClosureFeature = ReturnType<typeof closureFeature>

const EVERY_MS = 60_000

/** Closing an account, undoing that, and erasing it after 30 days. @param tables Of all features. */
export function closureFeature(p: Platform, tables: () => readonly TenantTable[]) {
  const closure = createClosure(p)
  return defineFeature(
    {
      name: 'closure',
      routes: closureRoutes(closure),
      notes: NOTES,
      tasks: [
        {
          name: 'closed accounts',
          everyMs: EVERY_MS,
          start: () => createClosedAccounts({ ...p, tables, closure }),
        },
      ],
    },
    { closure },
  )
}
