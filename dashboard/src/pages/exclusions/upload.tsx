// Uploads a file of a list, and follows its import to the end.

import type { ExclusionImport } from '@countersign/client'
import { Alert, Button, Checkbox, FileButton, Group, Progress, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { formatBytes, formatNumber } from '../../parts/measures.ts'
import { useOnceKey } from '../../parts/send.tsx'
import { Id } from '../../parts/values.tsx'

const MAX_BYTES = 200_000_000
const WAIT_SECONDS = 25

export function Upload({ list }: { list: 'leie' | 'sam' }) {
  const { may } = useSession()
  return may('exclusions.write') ? <Form list={list} /> : null
}

function Form({ list }: { list: 'leie' | 'sam' }) {
  const { environment } = useSession()
  const client = useClient()
  const cache = useQueryClient()
  const [share, setShare] = useState(0)
  const [isForced, setIsForced] = useState(false)
  const { keyOf, renew } = useOnceKey()
  const upload = useMutation({
    mutationFn: async (file: File) => {
      if (file.size > MAX_BYTES) throw new Error(`The file has more than ${formatBytes(MAX_BYTES)}.`)
      const args = {
        fileName: file.name,
        force: isForced ? ('true' as const) : undefined,
        contentType: file.name.toLowerCase().endsWith('.zip') ? ('application/zip' as const) : ('text/csv' as const),
      }
      const options = {
        idempotencyKey: keyOf([file.name, file.size, file.lastModified, isForced]),
        onProgress: ({ sentBytes }: { sentBytes: number }) => setShare(sentBytes / Math.max(1, file.size)),
      }
      const lists = client.clinical.exclusionLists
      return list === 'leie' ? lists.importLeie(file, args, options) : lists.importSam(file, args, options)
    },
    onSuccess: renew,
  })
  const id = upload.data?.exclusionImportId
  const { data: followed = upload.data, error } = useQuery({
    queryKey: ['exclusion-import', environment, id],
    queryFn: ({ signal }) => client.clinical.exclusionImports.retrieve(id ?? '', { wait: WAIT_SECONDS }, { signal }),
    enabled: id !== undefined,
    // The service answers earlier when the import ends.
    refetchInterval: ({ state }) => (isRunning(state.data) ? 500 : false),
  })
  const hasEnded = followed !== undefined && !isRunning(followed)
  useEffect(() => {
    if (hasEnded) void cache.invalidateQueries({ queryKey: ['exclusion-list'] })
  }, [hasEnded, cache])
  return (
    <Stack gap="xs">
      <Checkbox
        label="Accept an older list, or one with fewer rows (owners only)"
        checked={isForced}
        disabled={upload.isPending}
        onChange={(event) => setIsForced(event.currentTarget.checked)}
      />
      <Group>
        <FileButton
          accept=".csv,.zip"
          inputProps={{ 'aria-label': `A file of ${list.toUpperCase()}` }}
          onChange={(file) => {
            setShare(0)
            if (file !== null) upload.mutate(file)
          }}
        >
          {(props) => (
            <Button {...props} variant="default" loading={upload.isPending}>
              Upload a file of {list.toUpperCase()}
            </Button>
          )}
        </FileButton>
      </Group>
      {upload.isPending && <Progress value={share * 100} aria-label="Upload" />}
      {upload.isError && <Failed error={upload.error} />}
      {error !== null && <Failed error={error} />}
      {followed !== undefined && <Result made={followed} />}
    </Stack>
  )
}

function Result({ made }: { made: ExclusionImport }) {
  if (isRunning(made)) {
    return (
      <Text size="sm" role="status">
        The file is uploaded, and is being read.
      </Text>
    )
  }
  if (made.failure !== null) {
    return (
      <Alert color="red" role="alert" title={`The file was refused: ${made.failure.code}`}>
        {made.failure.detail} The list in force stays. <Id id={made.exclusionImportId} />
      </Alert>
    )
  }
  return (
    <Alert color="green" role="status" title="The list is in force">
      {formatNumber(made.rows ?? 0)} rows, dated {made.listDate}. All prescribers are compared with it now.
    </Alert>
  )
}

const isRunning = (made: ExclusionImport | undefined) =>
  made !== undefined && (made.status === 'queued' || made.status === 'running')
