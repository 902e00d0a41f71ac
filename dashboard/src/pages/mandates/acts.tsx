// Narrows a mandate, ends it with all that were granted within it, and checks in for one that must be kept alive.

import type { Mandate } from '@countersign/client'
import { Act, textOf, timeOf } from '../../parts/act.tsx'
import { Consequence } from '../../parts/consequence.tsx'

export function Revoke({ mandate: { mandateId, description } }: { mandate: Mandate }) {
  return (
    <Act
      title="Revoke"
      permission="mandates.write"
      name={`${mandateId}.revoke`}
      isDangerous
      fields={[{ name: 'reason', title: 'Reason', about: 'For the ledger', isRequired: true, maxLength: 500 }]}
      review={({ reason }) => (
        <Consequence title={`“${description}” ends permanently`} reason={reason}>
          From the next decision on, no action runs under it, nor under a mandate that was granted within it.
        </Consequence>
      )}
      send={(client, { reason = '' }, options) => client.mandates.revoke(mandateId, { reason }, options)}
    />
  )
}

export function CheckIn({ mandate: { mandateId, heartbeat } }: { mandate: Mandate }) {
  return (
    <Act
      title="Check in"
      permission="mandates.write"
      name={`${mandateId}.heartbeat`}
      about="It says that the agent of this mandate is still watched."
      review={() => (
        <Consequence title="The mandate is kept alive" isHarmless>
          The next check-in is due {heartbeat === null ? 'later' : `${heartbeat.intervalSeconds} seconds`} after this
          one.
        </Consequence>
      )}
      send={(client, _, options) => client.mandates.heartbeat(mandateId, options)}
    />
  )
}

export function Narrow({ mandate: { mandateId, budget, version } }: { mandate: Mandate }) {
  const limit = { name: 'limit', title: 'Limit of a period', about: `Below ${budget?.limit} ${budget?.currency}` }
  return (
    <Act
      title="Narrow"
      permission="mandates.write"
      name={`${mandateId}.narrow`}
      about="It can not be widened again. An empty field stays as it is."
      fields={[
        ...(budget === null ? [] : [limit]),
        { name: 'expiresAt', title: 'Expires', about: 'In your time zone, and earlier than before', kind: 'time' },
      ]}
      send={(client, values, options) => {
        const to = textOf(values.limit)
        const changes = { budget: to === undefined ? undefined : { limit: to }, expiresAt: timeOf(values.expiresAt) }
        return client.mandates.update(mandateId, { ...changes, ifMatch: `"${version}"` }, options)
      }}
    />
  )
}
