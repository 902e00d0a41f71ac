import type { Agent } from '@countersign/client'
import { Anchor, Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { addressOf } from '../../app/address.ts'
import { useSession } from '../../app/session.tsx'
import { Codes, Id, Nothing, Status, Time } from '../../parts/values.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'

const page: ListPage<Agent> = {
  title: 'Agents',
  name: 'agents',
  permission: 'agents.read',
  about: 'Registered agents. While one is suspended, every action of its tokens is refused.',
  list: (client, query) => client.agents.list(query as object),
  idOf: ({ agentId }) => agentId,
  pathOf: ({ agentId }) => `agents/${agentId}`,
  actions: <Sessions />,
  filters: [
    { kind: 'choices', name: 'status', title: 'State', values: ['active', 'suspended', 'retired'] },
    { kind: 'text', name: 'owner', title: 'Owner' },
    { kind: 'day', name: 'createdGte', title: 'From' },
  ],
  columns: [
    { name: 'name', title: 'Name', show: (row) => <Name row={row} /> },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    {
      name: 'causes',
      title: 'Suspended by',
      show: ({ suspensions }) => <Codes values={suspensions.map(({ cause }) => cause)} />,
    },
    { name: 'owner', title: 'Owner', show: ({ owner }) => owner },
    {
      name: 'key',
      title: 'Key',
      isHidden: true,
      show: ({ publicKeyThumbprint }) => publicKeyThumbprint ?? <Nothing />,
    },
    { name: 'created', title: 'Registered', show: ({ createdAt }) => <Time at={createdAt} /> },
    { name: 'id', title: 'Id', show: ({ agentId }) => <Id id={agentId} /> },
  ],
  empty: {
    sentence: 'Tokens also work without a registered agent. A registered one can be suspended.',
    curl: `curl {base_url}/v1/agents -H 'Authorization: Bearer <API_KEY>' -H 'Content-Type: application/json' -d '{"name": "Repair desk", "owner": "repairs@example.com"}'`,
  },
}

export const Page = () => <List page={page} />

function Name({ row: { agentId, name } }: { row: Agent }) {
  const { environment } = useSession()
  return (
    <Anchor component={Link} {...addressOf(environment, `agents/${agentId}`)} size="sm" lineClamp={2} maw={260}>
      {name}
    </Anchor>
  )
}

function Sessions() {
  const { environment } = useSession()
  return (
    <Button component={Link} {...addressOf(environment, 'agent-sessions')} variant="default" size="xs">
      Their sessions
    </Button>
  )
}
