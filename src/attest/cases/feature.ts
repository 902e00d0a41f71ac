import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { oldRows, rowRule } from '#src/platform/retention.ts'
import { createCases } from './cases.ts'
import { CASE_SETTINGS, type CasesSettings } from './config.ts'
import { createOpenCase } from './escalation.ts'
import { EVENTS, NOTES } from './notes.ts'
import { caseRoutes } from './routes.ts'

export type CasesFeature = ReturnType<typeof casesFeature>

/** Adjusters' cases: states, reasons, notes and due dates. */
export function casesFeature(p: Platform, given: CasesSettings) {
  const settings = { ...CASE_SETTINGS, fourEyes: given.CASES_FOUR_EYES === 'on' }
  const cases = createCases({ ...p, settings })
  const openCase = given.CASES_ON_ESCALATION === 'on' ? createOpenCase({ ...p, settings }) : undefined
  return defineFeature(
    {
      name: 'cases',
      data: [
        { table: 'cases', key: ['id'] },
        { table: 'case_entries', key: ['case_id', 'seq'] },
      ],
      routes: caseRoutes(cases),
      notes: NOTES,
      events: EVENTS,
      retention: [rowRule(p.db, 'cases', null, oldRows({ table: 'cases', idType: 'cas', age: 'created_at' }))],
    },
    { cases, openCase },
  )
}
