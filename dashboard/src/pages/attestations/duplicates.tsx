import type { DuplicateFindings, DuplicateMatch } from '@countersign/client'
import { Stack } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { formatNumber } from '../../parts/measures.ts'
import { Id, Nothing, Num, Status } from '../../parts/values.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'

const pageOf = (claimId: string): ListPage<DuplicateFindings> => ({
  title: 'Duplicates of a claim',
  name: `duplicates.${claimId}`,
  permission: 'claims.read',
  about: 'For each capture the other claims that show the same or a similar picture.',
  actions: <Id id={claimId} />,
  list: (client, query) => client.claims.duplicates.list(claimId, query as object),
  idOf: ({ attestationId }) => attestationId,
  pathOf: ({ attestationId }) => `attestations/${attestationId}`,
  columns: [
    { name: 'id', title: 'Capture', show: ({ attestationId }) => <Id id={attestationId} /> },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    { name: 'earlier', title: 'Earlier claims', show: ({ earlier }) => <Matches matches={earlier} /> },
    { name: 'more', title: 'More', isNumber: true, show: ({ earlierMore }) => <Num value={earlierMore} /> },
    { name: 'later', title: 'Later claims', show: ({ later }) => <Matches matches={later} /> },
    {
      name: 'why',
      title: 'Not comparable',
      show: ({ notComparable }) => notComparable?.replaceAll('_', ' ') ?? <Nothing />,
    },
  ],
  empty: { sentence: 'The claim has no capture whose picture could be compared.' },
})

export function Page() {
  const { id = '' } = useParams({ strict: false }) as { id?: string }
  return <List key={id} page={pageOf(id)} />
}

function Matches({ matches }: { matches: readonly DuplicateMatch[] }) {
  if (matches.length === 0) return <Nothing />
  return (
    <Stack gap={2}>
      {matches.map(({ claimId, attestationId, kind, distanceBits }) => (
        <span key={attestationId}>
          <Id id={claimId} />{' '}
          {kind === 'duplicate_media' ? 'the same file' : `${formatNumber(distanceBits)} of 64 bits differ`}
        </span>
      ))}
    </Stack>
  )
}
