// Suspends, resumes, changes and retires an agent. What stops or ends it takes two steps and a reason.

import type { Agent } from '@countersign/client'
import { Act, textOf } from '../../parts/act.tsx'
import { Consequence } from '../../parts/consequence.tsx'

interface AgentProps {
  agent: Agent
}

const REASON = { name: 'reason', title: 'Reason', isRequired: true, maxLength: 500 } as const

export function Suspend({ agent: { agentId, name } }: AgentProps) {
  return (
    <Act
      title="Suspend"
      permission="agents.suspend"
      name={`${agentId}.suspend`}
      isDangerous
      fields={[REASON]}
      review={({ reason }) => (
        <Consequence title={`${name} is suspended`} reason={reason}>
          From the next decision on, every action of its tokens is refused, also of tokens that it has already.
        </Consequence>
      )}
      send={(client, { reason = '' }, options) => client.agents.suspend(agentId, { reason }, options)}
    />
  )
}

export function Unsuspend({ agent: { agentId, name, suspensions } }: AgentProps) {
  const locks = suspensions.filter(({ cause }) => cause === 'lock').length
  return (
    <Act
      title="Unsuspend"
      permission="agents.write"
      name={`${agentId}.unsuspend`}
      about="It lifts the suspension that a person made."
      review={() => (
        <Consequence title={locks === 0 ? `${name} may act again` : `${name} stays suspended by a lock`} isHarmless>
          {locks === 0
            ? 'From the next decision on, its tokens that have not expired work again.'
            : 'Clear the lock as well, once its cause is understood.'}
        </Consequence>
      )}
      send={(client, _, options) => client.agents.unsuspend(agentId, options)}
    />
  )
}

export function Change({ agent: { agentId, name, owner, version } }: AgentProps) {
  return (
    <Act
      title="Change"
      permission="agents.write"
      name={`${agentId}.change`}
      about={`Its name is ${name}, and ${owner} answers for it. An empty field stays as it is.`}
      fields={[
        { name: 'name', title: 'Name', maxLength: 200 },
        { name: 'owner', title: 'Owner', about: 'An address, a team or an id of who answers for it', maxLength: 254 },
      ]}
      send={(client, values, options) => {
        const changes = { name: textOf(values.name), owner: textOf(values.owner) }
        return client.agents.update(agentId, { ...changes, ifMatch: `"${version}"` }, options)
      }}
    />
  )
}

export function Retire({ agent: { agentId, name } }: AgentProps) {
  return (
    <Act
      title="Retire"
      permission="agents.write"
      name={`${agentId}.retire`}
      isDangerous
      fields={[REASON]}
      review={({ reason }) => (
        <Consequence title={`${name} ends permanently, with its sessions`} reason={reason}>
          It can not be resumed. From the next decision on, every action of its tokens is refused.
        </Consequence>
      )}
      send={(client, { reason = '' }, options) => client.agents.retire(agentId, { reason }, options)}
    />
  )
}
