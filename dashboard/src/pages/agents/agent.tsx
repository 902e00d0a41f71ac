import type { Agent } from '@countersign/client'
import { Code } from '@mantine/core'
import { Value } from '../../parts/finding.tsx'
import { Id, Nothing, Time } from '../../parts/values.tsx'
import { Detail, type DetailPage, type Fact, Facts, Part } from '../../recipe/detail-page.tsx'
import { Change, Retire, Suspend, Unsuspend } from './acts.tsx'
import { Related, Suspensions } from './related.tsx'

const page: DetailPage<Agent> = {
  kind: 'Agent',
  name: 'agents',
  permission: 'agents.read',
  listPath: 'agents',
  retrieve: (client, id, signal) => client.agents.retrieve(id, { signal }),
  titleOf: ({ name }) => name,
  statusOf: ({ status }) => status,
  facts: (agent) => [
    ['Owner', agent.owner],
    [
      'Key',
      agent.publicKeyThumbprint === null ? <Nothing key="none" /> : <Code key="key">{agent.publicKeyThumbprint}</Code>,
    ],
    ...(agent.retiredAt === null ? [] : retirementOf(agent)),
    ['Registered', <Time key="created" at={agent.createdAt} />],
    ['Registered by', agent.createdBy.label ?? <Id key="by" id={agent.createdBy.id} />],
    ['Changed', <Time key="updated" at={agent.updatedAt} />],
    ['Related', <Related key="related" agentId={agent.agentId} />],
  ],
  actions: (agent) =>
    agent.retiredAt === null && (
      <>
        <Change agent={agent} />
        <Retire agent={agent} />
        {agent.suspensions.some(({ cause }) => cause === 'manual') ? (
          <Unsuspend agent={agent} />
        ) : (
          <Suspend agent={agent} />
        )}
      </>
    ),
  children: ({ suspensions, metadata }) => (
    <>
      {suspensions.length > 0 && <Suspensions suspensions={suspensions} />}
      {Object.keys(metadata).length > 0 && (
        <Part title="Metadata">
          <Facts facts={Object.entries(metadata).map(([name, value]) => [name, <Value key={name} value={value} />])} />
        </Part>
      )}
    </>
  ),
  hasEvents: true,
}

export const Page = () => <Detail page={page} />

const retirementOf = ({ retiredAt, retiredBy, retiredReason }: Agent): Fact[] => [
  ['Retired', <Time key="retired" at={retiredAt} />],
  ['Retired by', retiredBy?.label ?? <Id key="retirer" id={retiredBy?.id} />],
  ['Reason', retiredReason ?? <Nothing key="reason" />],
]
