import type { BatchSummary } from '@countersign/client'
import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Upload } from 'lucide-react'
import { useSession } from '../../app/session.tsx'
import { Id, Num, Status, Time } from '../../parts/values.tsx'
import { List, type ListPage } from '../../recipe/list-page.tsx'

const page: ListPage<BatchSummary> = {
  title: 'Batches',
  name: 'batches',
  permission: 'claims.read',
  about: 'Captures that were submitted together, up to 10,000 in each batch.',
  list: (client, query) => client.claims.batches.list(query as object),
  idOf: ({ batchId }) => batchId,
  pathOf: ({ batchId }) => `batches/${batchId}`,
  actions: <UploadButton />,
  filters: [
    { kind: 'day', name: 'createdGte', title: 'From' },
    { kind: 'day', name: 'createdLt', title: 'Before' },
  ],
  columns: [
    { name: 'id', title: 'Batch', show: ({ batchId }) => <Id id={batchId} /> },
    { name: 'status', title: 'State', show: ({ status }) => <Status value={status} /> },
    { name: 'accepted', title: 'Captures', isNumber: true, show: ({ accepted }) => <Num value={accepted} /> },
    {
      name: 'ended',
      title: 'Ended',
      isNumber: true,
      show: ({ counts }) => <Num value={counts.succeeded + counts.failed + counts.cancelled} />,
    },
    { name: 'failed', title: 'Failed', isNumber: true, show: ({ counts }) => <Num value={counts.failed} /> },
    { name: 'refused', title: 'Refused', isNumber: true, show: ({ rejectedCount }) => <Num value={rejectedCount} /> },
    {
      name: 'repeated',
      title: 'Repeated',
      isNumber: true,
      isHidden: true,
      show: ({ repeatedCount }) => <Num value={repeatedCount} />,
    },
    { name: 'created', title: 'Created', show: ({ createdAt }) => <Time at={createdAt} /> },
  ],
  empty: {
    sentence: 'A batch begins with an upload here, or with a file of lines by the API.',
    curl: 'npm run submit -- photos --url {base_url} --key <API_KEY>',
  },
}

export const Page = () => <List page={page} />

function UploadButton() {
  const { environment, may } = useSession()
  if (!may('claims.submit')) return null
  return (
    <Button component={Link} to={`/${environment}/batches/new`} size="xs" leftSection={<Upload size={14} />}>
      Upload
    </Button>
  )
}
