// What happened to a claim, newest first, page by page.

import type { ClaimMoment } from '@countersign/client'
import { Code, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { More } from '../../parts/more.tsx'
import { Id, Time } from '../../parts/values.tsx'
import { Part } from '../../recipe/detail-page.tsx'
import { textIn } from './capture.ts'

const PAGE_SIZE = 20

export function Timeline({ claimId }: { claimId: string }) {
  const client = useClient()
  const { environment } = useSession()
  const query = useInfiniteQuery({
    queryKey: ['timeline', environment, claimId],
    queryFn: ({ pageParam: cursor }) => client.claims.timeline.list(claimId, { cursor, limit: PAGE_SIZE }).page(),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })
  return (
    <Part title="Timeline">
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={160} />}
      <Stack gap={6} component="ol" style={{ listStyle: 'none', padding: 0, margin: 0 }}>
        {query.data?.pages
          .flatMap(({ data }) => data)
          .map((moment, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a moment has no id, and the list only grows at its end
            <Moment key={index} moment={moment} />
          ))}
      </Stack>
      <More query={query}>Earlier</More>
    </Part>
  )
}

function Moment({ moment }: { moment: ClaimMoment }) {
  const { at, kind, subjectId, by, details } = moment
  const to = textIn(details, 'to')
  const status = textIn(details, 'risk_status')
  const reason = textIn(details, 'reason_code')
  return (
    <Group gap="xs" component="li" wrap="wrap">
      <Text size="sm" c="dimmed" w={110}>
        <Time at={at} />
      </Text>
      <Text size="sm">
        {WORDS[kind] ?? kind}
        {to === undefined ? '' : `: ${to.replaceAll('_', ' ')}`}
        {status === undefined ? '' : `: ${status}, score ${details.risk_score}`}
        {textIn(details, 'replaced_at') === undefined ? '' : ' (replaced since)'}
      </Text>
      {reason !== undefined && <Code>{reason}</Code>}
      {by !== null && (
        <Text size="sm" c="dimmed">
          {by.label ?? by.type}
        </Text>
      )}
      <Id id={subjectId} />
    </Group>
  )
}

const WORDS: Record<string, string> = {
  'claim.created': 'The claim came in',
  'claim.erased': 'The claim was erased',
  'claim.provenance_updated': 'The standing of the claim changed',
  'claim.escalated': 'The claim was escalated',
  'attestation.accepted': 'A capture was accepted',
  'attestation.evaluated': 'A capture was evaluated',
  'screening.completed': 'A screening ended',
  'case.opened': 'A case was opened',
  'case.escalated': 'The case was escalated',
  'case.proposed': 'A denial was proposed',
  'case.transitioned': 'The case changed',
  'case.noted': 'A note was added',
  'case.changed': 'The case was changed',
}
