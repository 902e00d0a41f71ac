import type { AgentSession } from '@countersign/client'
import { Act } from '../../parts/act.tsx'
import { Consequence } from '../../parts/consequence.tsx'
import { Value } from '../../parts/finding.tsx'
import { Id, Nothing, Status, Time } from '../../parts/values.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'

const page: ListPage<AgentSession> = {
  title: 'Agent sessions',
  name: 'agent-sessions',
  permission: 'agents.read',
  about: 'Sessions that registered agents have opened. A token names the session in which its agent acts.',
  list: (client, query) => client.agents.sessions.listAll(query as object),
  idOf: ({ agentSessionId }) => agentSessionId,
  filters: [
    { kind: 'choice', name: 'status', title: 'State', values: ['open', 'ended'] },
    { kind: 'text', name: 'agentId', title: 'Agent' },
    { kind: 'day', name: 'createdGte', title: 'From' },
  ],
  columns: [
    { name: 'id', title: 'Session', show: ({ agentSessionId }) => <Id id={agentSessionId} /> },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    { name: 'agent', title: 'Agent', show: ({ agentId }) => <Id id={agentId} /> },
    { name: 'by', title: 'Opened by', show: ({ createdBy }) => createdBy.label ?? <Id id={createdBy.id} /> },
    { name: 'created', title: 'Opened', show: ({ createdAt }) => <Time at={createdAt} /> },
    { name: 'ended', title: 'Ended', show: ({ endedAt }) => <Time at={endedAt} /> },
    { name: 'ender', title: 'Ended by', isHidden: true, show: ({ endedBy }) => endedBy?.label ?? <Nothing /> },
    { name: 'metadata', title: 'Metadata', isHidden: true, show: ({ metadata }) => <Value value={metadata} /> },
  ],
  rowActions: (session) => session.status === 'open' && <End session={session} />,
  empty: {
    sentence: 'A session is opened for a registered agent.',
    curl: `curl {base_url}/v1/agents/<AGENT_ID>/sessions -X POST -H 'Authorization: Bearer <API_KEY>'`,
  },
}

export const Page = () => <List page={page} />

function End({ session: { agentId, agentSessionId } }: { session: AgentSession }) {
  return (
    <Act
      title="End"
      permission="agents.write"
      name={`${agentSessionId}.end`}
      isDangerous
      about="A session that has ended can not be opened again."
      review={() => (
        <Consequence title="The session ends permanently">
          No token is issued in it any more. To end the tokens that it has, revoke the session.
        </Consequence>
      )}
      send={(client, _, options) => client.agents.sessions.end(agentId, agentSessionId, options)}
    />
  )
}
