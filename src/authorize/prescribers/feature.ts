import { defineFeature, type Platform } from '#src/platform/feature.ts'
import type { Assertions } from '../passkeys/assertions.ts'
import { createClinicalPolicies } from './clinical-policies.ts'
import { createConfirmations } from './confirmations.ts'
import { NOTES } from './notes.ts'
import { SEALED_PERSON } from './person.ts'
import { clinicalPolicyRoutes } from './policy-routes.ts'
import { readClinicalPolicy, readFormulary } from './policy-rows.ts'
import { createPrescribers, type PrescribersDeps } from './prescribers.ts'
import { prescriberRoutes } from './routes.ts'
import { findStanding, findStandingOfUser, listSubjects } from './tier.ts'

export type PrescribersFeature = ReturnType<typeof prescribersFeature>

/** Who may order, what is known of them, and what orders need. */
export function prescribersFeature(
  p: Platform,
  { assertions, matchSecret }: { assertions: Assertions } & Pick<PrescribersDeps, 'matchSecret'>,
) {
  const prescribers = createPrescribers({ ...p, matchSecret })
  const confirmations = createConfirmations({ ...p, assertions, prescribers })
  const policies = createClinicalPolicies(p)
  return defineFeature(
    {
      name: 'prescribers',
      data: [
        { table: 'prescribers', key: ['id'], secrets: ['sealed_person', 'match_full', 'match_name', 'match_states'] },
        { table: 'prescriber_facts', key: ['id'] },
        { table: 'clinical_policies', key: ['version'] },
        { table: 'clinical_formulary_versions', key: ['version'] },
        { table: 'clinical_formulary', key: ['rxcui'] },
      ],
      routes: [...prescriberRoutes(prescribers, confirmations), ...clinicalPolicyRoutes(policies)],
      notes: NOTES,
      sealed: [SEALED_PERSON],
    },
    {
      /** What orders and exclusion lists read, in their transactions. */
      prescribers: { find: findStanding, findOfUser: findStandingOfUser, subjects: listSubjects },
      clinicalPolicy: { read: readClinicalPolicy, formulary: readFormulary },
    },
  )
}
