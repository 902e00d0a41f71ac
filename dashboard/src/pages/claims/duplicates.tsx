// Other claims that show the same picture, side by side with this one.

import type { DuplicateFindings, DuplicateMatch } from '@countersign/client'
import { Card, Group, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { formatNumber } from '../../parts/measures.ts'
import { Id } from '../../parts/values.tsx'
import { Part } from '../../recipe/detail-page.tsx'
import { Thumbnail } from './picture.tsx'

export function Duplicates({ claimId }: { claimId: string }) {
  const client = useClient()
  const { environment } = useSession()
  const query = useQuery({
    queryKey: ['duplicates', environment, claimId],
    queryFn: () => client.claims.duplicates.list(claimId, { limit: 20 }).page(),
  })
  if (query.isError) {
    return (
      <Part title="Duplicates">
        <Failed error={query.error} onRetry={() => void query.refetch()} />
      </Part>
    )
  }
  if (query.isPending) return <Skeleton height={24} maw={240} />
  const captures = query.data.data
  const found = captures.filter(({ earlier, later }) => earlier.length + later.length > 0)
  return (
    <Part title="Duplicates">
      {found.length === 0 && (
        <Text size="sm" c="dimmed">
          {captures.some(({ status }) => status === 'pending')
            ? 'The search for the same picture in other claims has not ended yet.'
            : 'No other claim shows the same picture.'}
        </Text>
      )}
      <Stack>
        {found.map((capture) => (
          <SideBySide key={capture.attestationId} capture={capture} />
        ))}
      </Stack>
    </Part>
  )
}

function SideBySide({ capture }: { capture: DuplicateFindings }) {
  const { mediaId, earlier, earlierMore, later } = capture
  return (
    <div>
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="xs">
        <Card withBorder padding="xs">
          <Thumbnail mediaId={mediaId} height={140} alt="The photo of this claim" />
          <Text size="sm" fw={600}>
            This claim
          </Text>
        </Card>
        {earlier.map((match) => (
          <Match key={match.attestationId} match={match} when="Earlier" />
        ))}
        {later.map((match) => (
          <Match key={match.attestationId} match={match} when="Later" />
        ))}
      </SimpleGrid>
      {earlierMore > 0 && (
        <Text size="sm" mt={4}>
          {formatNumber(earlierMore)} more earlier claims show it.
        </Text>
      )}
    </div>
  )
}

function Match({ match, when }: { match: DuplicateMatch; when: string }) {
  const { claimId, mediaId, kind, distanceBits } = match
  return (
    <Card withBorder padding="xs">
      <Thumbnail mediaId={mediaId} height={140} alt={`The photo of ${claimId}`} />
      <Text size="sm">
        {when}: {kind === 'duplicate_media' ? 'the same file' : `${formatNumber(distanceBits)} of 64 bits differ`}
      </Text>
      <Group gap={4}>
        <Id id={claimId} />
      </Group>
    </Card>
  )
}
