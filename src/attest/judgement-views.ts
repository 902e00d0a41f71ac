// Views of judgements in answers. Codes are listed for readers and client generators but not validated: while two
// versions of the service run side by side, the older one shows results that the newer one has judged.

import { z } from 'zod'
import { ADVISORIES, FACTOR_CODES } from './factors/table.ts'

export const listed = (id: string, values: readonly string[]) => z.string().meta({ id, enum: [...values] })

export const riskStatusView = z.enum(['passed', 'review', 'failed']).meta({ id: 'RiskStatus' })
export const claimRiskStatusView = z.enum(['pending', 'passed', 'review', 'failed']).meta({ id: 'ClaimRiskStatus' })
export const provenanceStatusView = z
  .enum(['verified', 'attested_unverified', 'unattested', 'broken'])
  .meta({ id: 'ProvenanceStatus' })
export const hardwareTierView = z
  .enum(['none', 'software', 'tee', 'strongbox', 'secure_enclave'])
  .meta({ id: 'HardwareTier' })

export const factorCodeView = listed('FactorCode', FACTOR_CODES)
export const advisoryCodeView = listed('AdvisoryCode', ADVISORIES)

const evidence = z
  .looseObject({
    compared: z.string().describe('What was compared.'),
    expected: z.unknown().describe('What an honest capture would show: any JSON value.'),
    found: z.unknown().describe('What was found: any JSON value.'),
  })
  .meta({
    id: 'FactorEvidence',
    description: 'Further members depend on the code. Their names have units, and times are ISO 8601.',
  })

export const factorView = z
  .object({ code: factorCodeView, points: z.number().int(), evidence })
  .meta({ id: 'Factor', description: 'A finding that counts toward the risk score.' })
export const advisoryView = z
  .object({ code: advisoryCodeView, evidence })
  .meta({ id: 'AdvisoryFactor', description: 'A finding that never counts toward the risk score.' })
export const observationView = z
  .object({ code: z.string(), evidence })
  .meta({ id: 'Observation', description: 'A further observation beside the factors.' })
