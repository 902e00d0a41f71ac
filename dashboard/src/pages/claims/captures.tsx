// The captures of a claim, the one with the highest score first, as it makes the score of the claim.

import type { Claim, SubmittedAttestation } from '@countersign/client'
import { Alert, Group, SimpleGrid, Skeleton, Stack, Tabs, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { formatNumber } from '../../parts/measures.ts'
import { More } from '../../parts/more.tsx'
import { Id, Time } from '../../parts/values.tsx'
import { Part } from '../../recipe/detail-page.tsx'
import { captureOf } from './capture.ts'
import { Photo } from './picture.tsx'
import { Where } from './place.tsx'
import { Score } from './score.tsx'
import { EarlierResults } from './screenings.tsx'
import { Credentials, Signer } from './signer.tsx'
import { Video } from './video.tsx'

const PAGE_SIZE = 20

interface CapturesProps {
  claim: Pick<Claim, 'claimId' | 'lossLocation' | 'riskScore'>
  /** In the half of a page: everything stands in one column. */
  isNarrow?: boolean
}

export function Captures({ claim, isNarrow = false }: CapturesProps) {
  const client = useClient()
  const { environment } = useSession()
  const query = useInfiniteQuery({
    queryKey: ['attestations', environment, claim.claimId],
    queryFn: ({ pageParam: cursor }) =>
      client.claims.attestations.list(claim.claimId, { cursor, limit: PAGE_SIZE }).page(),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })
  if (query.isPending) return <Skeleton height={420} />
  if (query.isError) return <Failed error={query.error} onRetry={() => void query.refetch()} />
  const attestations = query.data.pages
    .flatMap(({ data }) => data)
    .toSorted((a, b) => (b.riskScore ?? -1) - (a.riskScore ?? -1))
  const [first] = attestations
  if (first === undefined) return <Alert>The claim has no capture yet.</Alert>
  const show = (attestation: SubmittedAttestation) => (
    <OneCapture attestation={attestation} claim={claim} isNarrow={isNarrow} />
  )
  if (attestations.length === 1) return show(first)
  return (
    <Stack gap="xs">
      <Text size="sm">
        {formatNumber(attestations.length)}
        {query.hasNextPage ? ' or more' : ''} captures. The claim has the highest score of them
        {claim.riskScore === null ? '' : `, ${formatNumber(claim.riskScore)}`}.
      </Text>
      <Tabs defaultValue={first.attestationId} keepMounted={false}>
        <Tabs.List mb="xs">
          {attestations.map(({ attestationId, riskScore, submission }, index) => (
            <Tabs.Tab key={attestationId} value={attestationId}>
              {submission.media_type === 'video' ? 'Video' : 'Photo'} {index + 1}:{' '}
              {riskScore === undefined ? 'no score' : formatNumber(riskScore)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {attestations.map((attestation) => (
          <Tabs.Panel key={attestation.attestationId} value={attestation.attestationId}>
            {show(attestation)}
          </Tabs.Panel>
        ))}
      </Tabs>
      <More query={query}>More captures</More>
    </Stack>
  )
}

interface OneCaptureProps extends Required<CapturesProps> {
  attestation: SubmittedAttestation
}

function OneCapture({ attestation, claim, isNarrow }: OneCaptureProps) {
  const capture = captureOf(attestation)
  const { attestationId, acceptedAt, erasedAt, mediaId } = attestation
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Id id={attestationId} isCurrent />
        <Text size="sm" c="dimmed">
          accepted <Time at={acceptedAt} />
        </Text>
      </Group>
      <SimpleGrid cols={{ base: 1, md: isNarrow ? 1 : 2 }}>
        <Stack gap="sm">
          {erasedAt !== undefined ? (
            <Alert color="gray" title="Its media and positions were erased">
              <Time at={erasedAt} />. The hashes, the findings and the signed result stay.
            </Alert>
          ) : capture.isVideo ? (
            <Video attestation={attestation} capture={capture} />
          ) : (
            <Photo mediaId={mediaId} />
          )}
          {erasedAt === undefined && <Where capture={capture} claimLoss={claim.lossLocation} />}
        </Stack>
        <Stack gap="sm">
          <Score attestation={attestation} />
          <EarlierResults attestationId={attestationId} />
        </Stack>
      </SimpleGrid>
      <Part title="Device and certificates">
        <Signer attestation={attestation} capture={capture} />
      </Part>
      <Credentials attestation={attestation} />
    </Stack>
  )
}
