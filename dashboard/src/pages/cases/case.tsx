// A case: the evidence of its claim at the left, the decision at the right.

import './case.css'
import type { Case } from '@countersign/client'
import { Alert, Anchor, Button, Grid, Group, Skeleton, Stack, Text, Title } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useLocation, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { addressOf, withQuery } from '../../app/address.ts'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed, Forbidden } from '../../parts/failed.tsx'
import { useOnceKey } from '../../parts/send.tsx'
import { Id, Num, Status, Time } from '../../parts/values.tsx'
import { Facts } from '../../recipe/detail-page.tsx'
import type { Query } from '../../recipe/list-page.tsx'
import { Captures } from '../claims/captures.tsx'
import { Duplicates } from '../claims/duplicates.tsx'
import { Due } from './cases.tsx'
import { Decision } from './decision.tsx'
import { Changed, History } from './history.tsx'
import { findNext } from './queues.ts'

const PERMISSION = 'cases.read'

export function Page() {
  const { may } = useSession()
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  // Another case is another page, with a version and a draft of its own.
  return may(PERMISSION) ? <Shown key={id} id={id} /> : <Forbidden permission={PERMISSION} />
}

function Shown({ id }: { id: string }) {
  const { environment } = useSession()
  const client = useClient()
  const query = useQuery({
    queryKey: ['detail', 'cases', environment, id],
    queryFn: ({ signal }) => client.cases.retrieve(id, { signal }),
  })
  if (query.isPending) {
    return (
      <Stack role="status" aria-label="Loading">
        <Skeleton height={34} maw={420} />
        <Grid>
          <Grid.Col span={{ base: 12, md: 7 }}>
            <Skeleton height={640} />
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 5 }}>
            <Skeleton height={420} />
          </Grid.Col>
        </Grid>
      </Stack>
    )
  }
  if (query.isError) return <Failed error={query.error} onRetry={() => void query.refetch()} />
  return <Loaded row={query.data} />
}

function Loaded({ row }: { row: Case }) {
  const { environment, may } = useSession()
  const client = useClient()
  const cache = useQueryClient()
  const navigate = useNavigate()
  const search = useLocation({ select: ({ search: found }) => found as Query })
  // The version that the person has read. A newer one is pointed out before anything is decided on it.
  const [seen, setSeen] = useState(row.version)
  const { caseId, claimId, claimReference, status } = row
  const hasQueue = search.queue !== undefined

  const readAgain = async () => {
    await Promise.all([
      cache.invalidateQueries({ queryKey: ['detail', 'cases', environment, caseId] }),
      cache.invalidateQueries({ queryKey: ['case-entries', environment, caseId] }),
    ])
  }
  const take = (next: Case) => {
    cache.setQueryData(['detail', 'cases', environment, caseId], next)
    setSeen(next.version)
    void cache.invalidateQueries({ queryKey: ['case-entries', environment, caseId] })
    void cache.invalidateQueries({ queryKey: ['list', 'cases', environment] })
    void cache.invalidateQueries({ queryKey: ['overview', environment] })
    void cache.invalidateQueries({ queryKey: ['detail', 'claims', environment, claimId] })
  }
  const goOn = useMutation({
    mutationFn: () => findNext(client, search, caseId),
    onSuccess: (next) => {
      const list = withQuery('cases', search)
      if (next === undefined) notifications.show({ message: 'That was the last case of the queue.' })
      void navigate(addressOf(environment, next === undefined ? list : withQuery(`cases/${next.caseId}`, search)))
    },
  })
  return (
    <Stack gap="sm">
      <div>
        <Anchor component={Link} {...addressOf(environment, withQuery('cases', search))} size="sm">
          The queue
        </Anchor>
        <Group gap="sm">
          <Title order={1} size="h3" style={{ overflowWrap: 'anywhere' }}>
            {claimReference ?? 'Case'}
          </Title>
          <Status value={status} />
        </Group>
        <Id id={caseId} isCurrent />
      </div>
      {row.claimChangedAt !== null && (
        <Alert color="yellow" title="The claim stands otherwise than when the case was closed">
          Since <Time at={row.claimChangedAt} />.
        </Alert>
      )}
      <Grid>
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Evidence row={row} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Stack gap="sm" className="decision">
            <Facts
              facts={[
                ['Claim', <Id key="claim" id={claimId} />],
                ['Score', <Num key="score" value={row.riskScore} />],
                ['Due', <Due key="due" row={row} />],
                ['Priority', row.priority],
                ['Assignee', <Assignee key="assignee" row={row} onChanged={take} onStale={readAgain} />],
              ]}
            />
            {row.version > seen && <Changed caseId={caseId} since={seen} onSeen={() => setSeen(row.version)} />}
            {may('cases.write') ? (
              <Decision
                row={row}
                hasNext={hasQueue}
                onStale={readAgain}
                onDecided={(next, goesOn) => {
                  take(next)
                  if (goesOn) goOn.mutate()
                }}
              />
            ) : (
              <Alert color="gray">Your role reads cases, and does not decide them.</Alert>
            )}
            {goOn.isError && <Failed error={goOn.error} onRetry={() => goOn.mutate()} />}
            <History caseId={caseId} />
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  )
}

function Evidence({ row }: { row: Case }) {
  const { environment, may } = useSession()
  const client = useClient()
  const query = useQuery({
    queryKey: ['detail', 'claims', environment, row.claimId],
    queryFn: ({ signal }) => client.claims.retrieve(row.claimId, { signal }),
    enabled: may('claims.read'),
  })
  if (!may('claims.read')) return <Forbidden permission="claims.read" />
  if (query.isError) return <Failed error={query.error} onRetry={() => void query.refetch()} />
  if (query.isPending) return <Skeleton height={640} />
  return (
    <Stack>
      <Captures claim={query.data} isNarrow />
      <Duplicates claimId={row.claimId} />
    </Stack>
  )
}

interface AssigneeProps {
  row: Case
  onChanged(next: Case): void
  onStale(): Promise<void>
}

/** Who works on it, and taking it over. */
function Assignee({ row, onChanged, onStale }: AssigneeProps) {
  const { session, may } = useSession()
  const client = useClient()
  const { keyOf, renew } = useOnceKey()
  const { caseId, version, assignee, assigneeLabel, closedAt } = row
  const { userId } = session.user
  const take = useMutation({
    mutationFn: () => {
      const changes = { assignee: userId, version }
      return client.cases.update(caseId, changes, { idempotencyKey: keyOf(changes) })
    },
    onSuccess: (next) => {
      renew()
      onChanged(next)
    },
    onError: async () => {
      renew()
      await onStale()
    },
  })
  return (
    <Group gap="xs">
      <Text size="sm">{assignee === userId ? 'you' : (assigneeLabel ?? 'nobody')}</Text>
      {assignee !== userId && closedAt === null && may('cases.write') && (
        <Button size="compact-xs" variant="light" loading={take.isPending} onClick={() => take.mutate()}>
          Take it
        </Button>
      )}
      {take.isError && <Failed error={take.error} />}
    </Group>
  )
}
