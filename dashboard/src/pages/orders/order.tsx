// One order: what its signers see, the proof that it is what they sign, and the acts that are possible.

import type { Order, Prescriber } from '@countersign/client'
import { Alert, Anchor, Button, Card, Group, Skeleton, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { whileActive } from '../../app/activity.ts'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed, Forbidden } from '../../parts/failed.tsx'
import { SCROLLABLE } from '../../parts/scrollable.ts'
import { Id, Status } from '../../parts/values.tsx'
import { Tree, Verbatim } from '../../parts/verbatim.tsx'
import { Facts, Part } from '../../recipe/detail-page.tsx'
import { Cancel, Decline } from './acts.tsx'
import { FurtherFacts, History, Signatures } from './facts.tsx'
import { changesBetween, contentOf, type Proved, prove } from './proof.ts'
import { Sign } from './sign.tsx'

const PERMISSION = 'orders.read'
const REFRESH_MS = 15_000
const WIDTH = 720

export function Page() {
  const { may } = useSession()
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  return may(PERMISSION) ? <Followed key={id} id={id} /> : <Forbidden permission={PERMISSION} />
}

function Followed({ id }: { id: string }) {
  const { environment } = useSession()
  const client = useClient()
  const cache = useQueryClient()
  const key = ['detail', 'orders', environment, id]
  const query = useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => prove(await client.clinical.orders.retrieve(id, { signal })),
    // What was hashed is shown as it is, and never merged with an earlier answer.
    structuralSharing: false,
    refetchInterval: whileActive(REFRESH_MS),
  })
  const show = async (proved: Proved) => {
    await cache.cancelQueries({ queryKey: key })
    cache.setQueryData(key, proved)
    void cache.invalidateQueries({ queryKey: ['decisions', environment, id] })
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
      <Anchor component={Link} to={`/${environment}/orders`} size="sm">
        Orders
      </Anchor>
      <Group gap="sm">
        <Title order={1} size="h3">
          Order
        </Title>
        {status !== undefined && <Status value={status} />}
      </Group>
      <Id id={id} isCurrent />
    </div>
  )
}

function Shown({ proved, onRead }: { proved: Proved; onRead(proved: Proved): void }) {
  const { order, isGenuine } = proved
  const { environment, may, session } = useSession()
  const client = useClient()
  const [read, setRead] = useState(proved)
  const { data: prescriber } = useQuery({
    queryKey: ['detail', 'prescribers', environment, order.prescriberId],
    queryFn: ({ signal }) => client.clinical.prescribers.retrieve(order.prescriberId, { signal }),
    enabled: may('prescribers.read'),
  })
  // Where the page may not read prescribers, the service says whether the person is the right one.
  const isOwn = prescriber === undefined ? undefined : prescriber.userId === session.user.userId
  const isRead = read.hash === proved.hash && read.order.orderHash === order.orderHash
  const act = actFor(order, isOwn)
  return (
    <Stack maw={WIDTH}>
      <Group justify="space-between" align="flex-start">
        <Heading id={order.orderId} status={order.status} />
        <Group gap="xs">
          {order.allowedActs.includes('cancel') && <Cancel order={order} />}
          {order.allowedActs.includes('decline') && isOwn !== true && <Decline order={order} />}
        </Group>
      </Group>
      {!isRead && <Changed before={read.order} now={order} onRead={() => setRead(proved)} />}
      <State order={order} isOwn={isOwn} />
      <Card withBorder component="section" aria-label="The order">
        <Stack gap="sm">
          <Content order={order} prescriber={prescriber} />
          {order.actionPayload !== null && (
            <Text component="div" size="sm" aria-label="Payload of the action" role="group">
              <Tree value={order.actionPayload} />
            </Text>
          )}
          {order.resource !== null && (
            <Text component="div" size="sm" aria-label="FHIR resource" role="group">
              <Verbatim text={order.resource} />
            </Text>
          )}
          <Proof proved={proved} />
        </Stack>
      </Card>
      {act !== undefined && isGenuine && isRead && may('orders.sign') && (
        <Sign key={`${act} ${proved.hash}`} proved={proved} act={act} onRead={onRead} />
      )}
      <Part title="Signatures">
        <Signatures order={order} />
      </Part>
      <Part title="Further facts">
        <FurtherFacts order={order} />
      </Part>
      <History orderId={order.orderId} />
    </Stack>
  )
}

function actFor({ allowedActs }: Order, isOwn: boolean | undefined): 'sign' | 'cosign' | undefined {
  if (allowedActs.includes('sign') && isOwn !== false) return 'sign'
  return allowedActs.includes('cosign') && isOwn !== true ? 'cosign' : undefined
}

const SOURCES: Record<string, string> = {
  request: 'as the request says',
  formulary: 'as the formulary of the account says',
  table: '21 CFR 1308 decided',
}

function Content({ order, prescriber }: { order: Order; prescriber: Prescriber | undefined }) {
  const { scheduleSource, scheduleSubstance, prescriberNpi, scheduleRequested } = order
  const substance = scheduleSubstance === null ? '' : `: ${scheduleSubstance}`
  const more: Record<string, string> = {
    Schedule: ` (${SOURCES[scheduleSource] ?? scheduleSource}${substance}; asked for: ${scheduleRequested})`,
    Prescriber:
      prescriber === undefined
        ? `, NPI ${prescriberNpi}`
        : `, ${prescriber.first} ${prescriber.last}, NPI ${prescriberNpi}, tier ${prescriber.tier}`,
  }
  return (
    <Facts
      facts={contentOf(order).map(([name, text]) => [
        name,
        <span key={name}>
          {text === null ? 'none' : <Verbatim text={text} />}
          {more[name] !== undefined && <Verbatim text={more[name]} />}
        </span>,
      ])}
    />
  )
}

function Proof({ proved: { isGenuine, hash } }: { proved: Proved }) {
  if (window.crypto.subtle === undefined) {
    return (
      <Alert color="red" role="alert" title="Nothing can be signed here">
        Open this page over https: without it no browser computes hashes.
      </Alert>
    )
  }
  if (!isGenuine) {
    return (
      <Alert color="red" role="alert" title="This is not the order that is signed">
        What is shown does not have the hash of the order. Nothing can be signed here. Tell the operator of the service.
      </Alert>
    )
  }
  return (
    <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
      Computed here from what is shown, and the same as the order has: {hash}.
    </Text>
  )
}

function Changed({ before, now, onRead }: { before: Order; now: Order; onRead(): void }) {
  return (
    <Alert color="red" role="alert" title="The order was edited since you read it">
      <Text size="sm">Nothing was signed. Nothing can be signed until you have read it again.</Text>
      <Table.ScrollContainer minWidth={300} type="native" {...SCROLLABLE}>
        <Table fz="sm" aria-label="What changed">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Changed</Table.Th>
              <Table.Th>Before</Table.Th>
              <Table.Th>Now</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {changesBetween(before, now).map((change) => (
              <Table.Tr key={change.name}>
                <Table.Td>{change.name}</Table.Td>
                <Table.Td>
                  <Verbatim text={change.before} />
                </Table.Td>
                <Table.Td>
                  <Verbatim text={change.now} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <Button size="xs" variant="default" onClick={onRead}>
        I have read it
      </Button>
    </Alert>
  )
}

const STATES: Record<string, string> = {
  draft: 'It waits for the signature of its prescriber.',
  pending_cosign: 'It waits for the co-signature of a second clinician.',
  authorized: 'It is signed, and can be executed once.',
  executed: 'It was executed.',
  declined: 'A clinician declined it. That is final.',
  cancelled: 'It was cancelled.',
  expired: 'It was not executed within 72 hours. Make a new order.',
}
const WARNINGS: Record<string, string> = {
  leie_stale: 'The exclusion list LEIE is missing or outdated.',
  sam_stale: 'The exclusion list SAM is missing or outdated.',
}

function State({ order: { status, warnings, needs, schedule }, isOwn }: { order: Order; isOwn: boolean | undefined }) {
  return (
    <>
      <Text role="status">
        {STATES[status]}
        {status === 'pending_cosign' && isOwn === true && ' You are its prescriber, so another one co-signs.'}
        {status === 'draft' && isOwn === false && ' That is another person.'}
      </Text>
      {needs.deny && <Alert color="red">The clinical policy denies orders of schedule {schedule}.</Alert>}
      {warnings.map((warning) => (
        <Alert key={warning} color="yellow">
          {WARNINGS[warning] ?? warning}
        </Alert>
      ))}
    </>
  )
}
