// Takes a prescriber, or a fact about one, out of decisions, and lifts a suspension.

import type {
  EndPrescriberFactRequest,
  Prescriber,
  PrescriberFact,
  SuspendPrescriberRequest,
} from '@countersign/client'
import { Act } from '../../parts/act.tsx'
import { Consequence } from '../../parts/consequence.tsx'
import { choicesOf } from './words.ts'

const SUSPENSIONS = choicesOf(['excluded', 'licence', 'registration', 'compromised', 'left', 'other'])
const ENDS = choicesOf(['entered_in_error', 'replaced', 'surrendered', 'revoked', 'other'])
const REASON = { name: 'reason', title: 'Reason', kind: 'choice', isRequired: true } as const

export function Suspend({ prescriber: { prescriberId } }: { prescriber: Prescriber }) {
  return (
    <Act
      title="Suspend"
      permission="prescribers.write"
      name={`${prescriberId}.suspend`}
      isDangerous
      fields={[{ ...REASON, values: SUSPENSIONS }]}
      review={({ reason }) => (
        <Consequence title="The tier is 0 from the next decision on" reason={reason}>
          Orders that are signed already are refused, too.
        </Consequence>
      )}
      send={(client, { reason }, options) =>
        client.clinical.prescribers.suspend(
          prescriberId,
          { reason: reason as SuspendPrescriberRequest['reason'] },
          options,
        )
      }
    />
  )
}

export function Reinstate({ prescriber: { prescriberId } }: { prescriber: Prescriber }) {
  return (
    <Act
      title="Reinstate"
      permission="prescribers.write"
      name={`${prescriberId}.reinstate`}
      review={() => (
        <Consequence title="The suspension is lifted" isHarmless>
          Facts that were confirmed count as entered by you: for tier 3 another person confirms them again.
        </Consequence>
      )}
      send={(client, _, options) => client.clinical.prescribers.reinstate(prescriberId, options)}
    />
  )
}

export function EndFact({ fact: { factId, prescriberId, kind } }: { fact: PrescriberFact }) {
  return (
    <Act
      title="End"
      permission="prescribers.write"
      name={`${factId}.end`}
      isSmall
      isDangerous
      fields={[{ ...REASON, values: ENDS }]}
      review={({ reason }) => (
        <Consequence title={`The fact (${kind}) counts no more`} reason={reason}>
          From the next decision on, the tier is without it. A fact that has ended stays ended.
        </Consequence>
      )}
      send={(client, { reason }, options) =>
        client.clinical.facts.end(
          prescriberId,
          factId,
          { reason: reason as EndPrescriberFactRequest['reason'] },
          options,
        )
      }
    />
  )
}
