// The checker of a fault run. Pure over the rows of Postgres and the journals: each invariant lists its violations.

import { checkAnswers } from './check-answers.ts'
import { checkAttributions } from './check-attributions.ts'
import { checkBorders } from './check-borders.ts'
import { checkBudgets } from './check-budgets.ts'
import { checkConsumers } from './check-consumers.ts'
import { checkDeliveries } from './check-deliveries.ts'
import { checkInferences } from './check-inferences.ts'
import { checkIntake } from './check-intake.ts'
import { checkJobs, checkSchedule } from './check-jobs.ts'
import { checkLedgers } from './check-ledger.ts'
import { checkPeople } from './check-people.ts'
import { checkResults } from './check-results.ts'
import { checkScreenings } from './check-screenings.ts'
import type { Evidence } from './evidence.ts'

export const INVARIANTS = {
  I1: 'every 2xx has exactly one row; none lost, none phantom, repeats included; nothing refused that is right',
  I2: 'every job reaches one terminal state; one result, fence monotone',
  I3: 'no effect without a committed row; no due row passed over for longer than 30 s',
  I4: 'every (event, live endpoint) attempted at least once; the first 2xx ends it; every mail is sent, and its link works',
  I5: 'every received signature verifies, in time',
  I6: 'every result verifies under a published key and says what its row says; the ledger verifies; each event happened once',
  I7: 'no id of one account or environment in an answer or delivery to another',
  I8: 'during an attack of another account every request is answered in time, and none is refused',
  I9: 'no budget is overspent, what is spent is what was executed and not given back, and no cycle is executed twice',
  I10: 'an inference has one trace, one ledger entry and one count, and a session one lock with one event',
  I11: 'an attribution or a diff has one manifest or report, one event with its hash, and one count',
  I12: 'events that are pulled come once in order, none is skipped, and a revoked key is shown none that it waited for',
} as const

export type Invariant = keyof typeof INVARIANTS

export interface Finding {
  invariant: Invariant
  /** One sentence, with the ids that it is about. */
  what: string
}

export async function check(evidence: Evidence): Promise<Finding[]> {
  return [
    ...checkIntake(evidence),
    ...checkJobs(evidence),
    ...checkSchedule(evidence),
    ...checkDeliveries(evidence),
    ...(await checkResults(evidence)),
    ...(await checkLedgers(evidence)),
    ...checkBudgets(evidence),
    ...checkInferences(evidence),
    ...checkAttributions(evidence),
    ...checkConsumers(evidence),
    ...checkScreenings(evidence),
    ...checkPeople(evidence),
    ...checkBorders(evidence),
    ...checkAnswers(evidence),
  ]
}
