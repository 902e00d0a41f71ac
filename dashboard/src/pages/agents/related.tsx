// Why an agent is suspended, and where its sessions, mandates and decisions are.

import type { Agent } from '@countersign/client'
import { Anchor, Group, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { addressOf } from '../../app/address.ts'
import { useSession } from '../../app/session.tsx'
import { Id, Status, Time } from '../../parts/values.tsx'
import { Part } from '../../recipe/detail-page.tsx'

export function Suspensions({ suspensions }: Pick<Agent, 'suspensions'>) {
  return (
    <Part title="Why it is suspended">
      <Stack gap={4}>
        {suspensions.map(({ cause, lockId, reason, suspendedBy, suspendedAt }) => (
          <Group key={`${cause} ${lockId}`} gap="sm">
            <Status value={cause} />
            <Time at={suspendedAt} />
            <Text size="sm">{suspendedBy.label ?? suspendedBy.type}</Text>
            {lockId !== null && <Id id={lockId} />}
            {reason !== null && <Text size="sm">“{reason}”</Text>}
          </Group>
        ))}
      </Stack>
    </Part>
  )
}

export function Related({ agentId }: { agentId: string }) {
  const { environment } = useSession()
  return (
    <Group gap="sm">
      <Anchor component={Link} size="sm" {...addressOf(environment, `agent-sessions?agentId=${agentId}`)}>
        Its sessions
      </Anchor>
      <Anchor component={Link} size="sm" {...addressOf(environment, `mandates?agentId=${agentId}`)}>
        Its mandates
      </Anchor>
      <Anchor component={Link} size="sm" {...addressOf(environment, `decisions?agentId=${agentId}`)}>
        Decisions about it
      </Anchor>
    </Group>
  )
}
