// One approval, for a phone first: the exact action, the proof that it is what the token is bound to, and the decision.

import type { Approval } from '@countersign/client'
import { Alert, Anchor, Button, Card, Group, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { isActive, useNow } from '../../app/activity.ts'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed, Forbidden } from '../../parts/failed.tsx'
import { Id, Status } from '../../parts/values.tsx'
import { Tree, Verbatim } from '../../parts/verbatim.tsx'
import { Part } from '../../recipe/detail-page.tsx'
import { amountIn, type Proved, readProved, subjectOf } from './action.ts'
import { Decide } from './decide.tsx'
import { FurtherFacts, TimeLeft, Votes, WhyFacts } from './facts.tsx'

const PERMISSION = 'approvals.read'
// The service answers earlier when the approval ends.
const WAIT_SECONDS = 25
const PAUSE_MS = 2_000
const WIDTH = 640

export function Page() {
  const { may } = useSession()
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  return may(PERMISSION) ? <Followed key={id} id={id} /> : <Forbidden permission={PERMISSION} />
}

function Followed({ id }: { id: string }) {
  const { environment } = useSession()
  const client = useClient()
  const cache = useQueryClient()
  // An interval that has stopped, as nobody used the page, is looked at again with each render.
  useNow()
  const key = ['detail', 'approvals', environment, id]
  const query = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => {
      const isFirst = cache.getQueryData(key) === undefined
      return readProved(client, id, { signal, ...(isFirst ? {} : { waitSeconds: WAIT_SECONDS }) })
    },
    // What was hashed is shown as it is, and never merged with an earlier answer.
    structuralSharing: false,
    refetchInterval: ({ state }) => (state.data?.approval.status === 'pending' && isActive() ? PAUSE_MS : false),
  })
  const show = async (proved: Proved) => {
    await cache.cancelQueries({ queryKey: key })
    cache.setQueryData(key, proved)
    void cache.invalidateQueries({ queryKey: ['overview', environment] })
    void cache.invalidateQueries({ queryKey: ['inbox', environment] })
  }
  if (query.isPending) {
    return (
      <Stack role="status" aria-label="Loading" maw={WIDTH}>
        <Skeleton height={34} maw={300} />
        <Skeleton height={320} />
        <Skeleton height={200} />
      </Stack>
    )
  }
  if (query.data === undefined) {
    return (
      <Stack maw={WIDTH}>
        <Heading id={id} />
        <Failed error={query.error} onRetry={() => void query.refetch()} />
      </Stack>
    )
  }
  return <Shown proved={query.data} onRead={(proved) => void show(proved)} />
}

function Heading({ id, status }: { id: string; status?: string }) {
  const { environment } = useSession()
  return (
    <div>
      <Anchor component={Link} to={`/${environment}/approvals`} size="sm">
        All that waits
      </Anchor>
      <Group gap="sm">
        <Title order={1} size="h3">
          Approval
        </Title>
        {status !== undefined && <Status value={status} />}
      </Group>
      <Id id={id} isCurrent />
    </div>
  )
}

function Shown({ proved, onRead }: { proved: Proved; onRead(proved: Proved): void }) {
  const { approval, isGenuine } = proved
  const { environment, may, session } = useSession()
  const client = useClient()
  const subject = subjectOf(proved)
  const [read, setRead] = useState(subject)
  const { mandateId } = approval
  const { data: mandate } = useQuery({
    queryKey: ['detail', 'mandates', environment, mandateId],
    queryFn: ({ signal }) => client.mandates.retrieve(mandateId ?? '', { signal }),
    enabled: mandateId !== null && may('mandates.read'),
  })
  const mayDecide =
    may('approvals.decide') && approval.roles.includes(session.role) && !hasDecided(approval, session.user.userId)
  const amount = amountIn(approval.actionPayload, mandate)
  return (
    <Stack maw={WIDTH}>
      <Heading id={approval.approvalId} status={approval.status} />
      {read !== subject && (
        <Alert color="red" role="alert" title="The action is another one than before">
          <Text size="sm" mb="xs">
            It changed while this page was open. Nothing can be decided until you have read it again.
          </Text>
          <Button size="xs" variant="default" onClick={() => setRead(subject)}>
            I have read it
          </Button>
        </Alert>
      )}
      <State approval={approval} mayDecide={mayDecide} />
      <Card withBorder component="section" aria-label="The action">
        <Stack gap="sm">
          <Text size="lg" fw={600}>
            <Verbatim text={approval.actionDescription} />
          </Text>
          {amount !== undefined && (
            <Text fz={32} lh={1.2} fw={700} aria-label="Amount">
              <Verbatim text={amount} />
            </Text>
          )}
          <Text component="div" size="sm" aria-label="Payload" role="group">
            <Tree value={approval.actionPayload} />
          </Text>
          <Proof proved={proved} />
        </Stack>
      </Card>
      <Part title="Who asks, and why you">
        <WhyFacts approval={approval} mandate={mandate} />
      </Part>
      <Part title="Decisions">
        <Votes approval={approval} />
      </Part>
      {approval.status === 'pending' && isGenuine && mayDecide && read === subject && (
        <Decide proved={proved} onRead={onRead} />
      )}
      <Part title="Further facts">
        <FurtherFacts approval={approval} />
      </Part>
    </Stack>
  )
}

function Proof({ proved: { isGenuine, actionHash, payloadHash } }: { proved: Proved }) {
  if (actionHash === '') {
    return (
      <Alert color="red" role="alert" title="Nothing can be decided here">
        Open this page over https: without it no browser computes hashes.
      </Alert>
    )
  }
  if (!isGenuine) {
    return (
      <Alert color="red" role="alert" title="This is not the action of the token">
        What is shown does not have the hashes that the token is bound to. Nothing can be decided here. Tell the
        operator of the service.
      </Alert>
    )
  }
  return (
    <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
      Computed here from what is shown, and the same as the token has: description {actionHash}, payload {payloadHash}.
    </Text>
  )
}

const ENDS: Record<string, string> = {
  approved: 'The action may run.',
  denied: 'The action does not run.',
  expired: 'Not enough people decided in time. The action does not run.',
  cancelled: 'Its token, agent session or device was revoked. The action does not run.',
}

function State({ approval, mayDecide }: { approval: Approval; mayDecide: boolean }) {
  const { session } = useSession()
  const { status, roles, expiresAt } = approval
  if (status !== 'pending') {
    return (
      <Text role="status">
        This approval is {status}. {ENDS[status]}
      </Text>
    )
  }
  const what = hasDecided(approval, session.user.userId)
    ? 'You have approved. It waits for others.'
    : mayDecide
      ? 'It waits for your decision.'
      : `People with the role ${roles.join(' or ')} decide; your role is ${session.role}.`
  return (
    <Group gap="xs" role="status">
      <Text>{what}</Text>
      <TimeLeft at={expiresAt} />
    </Group>
  )
}

// A vote of a key does not count here: whether it does depends on the policy and on the key, which only the service knows.
function hasDecided({ decisions }: Approval, userId: string): boolean {
  return decisions.some(({ by, via }) => by.id === userId && via !== 'api_key')
}
