// Clears a lock once, after a review: the session may go on.

import type { SessionLock } from '@countersign/client'
import { Act, textOf } from '../../parts/act.tsx'
import { Consequence } from '../../parts/consequence.tsx'

export function Clear({ lock: { lockId, agentId } }: { lock: SessionLock }) {
  return (
    <Act
      title="Clear"
      permission="locks.write"
      name={`${lockId}.clear`}
      fields={[
        {
          name: 'note',
          title: 'Note',
          about: 'What the review found. The ledger keeps it',
          isRequired: true,
          maxLength: 1_000,
        },
      ]}
      review={({ note }) => (
        <Consequence title="The session may go on" reason={note}>
          A lock is cleared once. {agentId !== null && 'Its agent may act again, unless something else suspends it.'}
        </Consequence>
      )}
      send={(client, { note }, options) => client.trace.locks.clear(lockId, { note: textOf(note) }, options)}
    />
  )
}
