// The history of a case, and what of it is new since a person read the case.

import type { CaseEntry } from '@countersign/client'
import { Alert, Button, Skeleton, Stack, Text } from '@mantine/core'
import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { formatTime } from '../../parts/measures.ts'
import { More } from '../../parts/more.tsx'
import { Reason } from '../../parts/reason.tsx'
import { Time } from '../../parts/values.tsx'
import { Part } from '../../recipe/detail-page.tsx'

const PAGE_SIZE = 20

export function useEntries(caseId: string) {
  const client = useClient()
  const { environment } = useSession()
  return useInfiniteQuery({
    queryKey: ['case-entries', environment, caseId],
    queryFn: ({ pageParam: cursor }) => client.cases.entries.list(caseId, { cursor, limit: PAGE_SIZE }).page(),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })
}

const entriesOf = (data: InfiniteData<{ data: CaseEntry[] }> | undefined) =>
  data?.pages.flatMap((page) => page.data) ?? []

export function History({ caseId }: { caseId: string }) {
  const query = useEntries(caseId)
  return (
    <Part title="History">
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <Skeleton height={120} />}
      <Stack gap="xs" component="ol" style={{ listStyle: 'none', padding: 0, margin: 0 }}>
        {entriesOf(query.data).map((entry) => (
          <li key={entry.version}>
            <Entry entry={entry} />
          </li>
        ))}
      </Stack>
      <More query={query}>Earlier</More>
    </Part>
  )
}

/** Shown while the case is newer than what the person read: the text that they wrote stays where it is. */
export function Changed({ caseId, since, onSeen }: { caseId: string; since: number; onSeen(): void }) {
  const query = useEntries(caseId)
  const fresh = entriesOf(query.data).filter(({ version }) => version > since)
  return (
    <Alert color="yellow" title="The case was changed meanwhile" role="alert">
      <Stack gap="xs">
        {fresh.map((entry) => (
          <Entry key={entry.version} entry={entry} />
        ))}
        <Text size="sm">What you wrote is kept. Look at it again before you decide.</Text>
        <div>
          <Button size="compact-sm" variant="light" onClick={onSeen}>
            I have seen it
          </Button>
        </div>
      </Stack>
    </Alert>
  )
}

function Entry({ entry }: { entry: CaseEntry }) {
  const { at, by, reasonCode, note, noteErasedAt } = entry
  return (
    <div>
      <Text size="sm">
        <Text span fw={600} size="sm">
          {by.label ?? by.type}
        </Text>{' '}
        {describe(entry)}, <Time at={at} />
      </Text>
      {reasonCode !== null && <Reason code={reasonCode} />}
      {note !== null && (
        <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }} pl="sm">
          {note}
        </Text>
      )}
      {noteErasedAt !== null && (
        <Text size="sm" c="dimmed" pl="sm">
          The note was erased with the claim.
        </Text>
      )}
    </div>
  )
}

function describe({ kind, from, to, changes }: CaseEntry): string {
  const change = from === to || to === null || kind === 'opened' ? '' : ` to ${words(to)}`
  if (kind === 'proposed') return `proposed ${words(to ?? '')}`
  const parts = changes.map(
    ({ field, to: value }) => `${words(field)}: ${value === null ? 'none' : readable(field, value)}`,
  )
  const what = parts.length === 0 ? '' : `${change === '' ? ' ' : ', '}${parts.join(', ')}`
  return `${KINDS[kind] ?? kind}${change}${what}`
}

const KINDS: Record<string, string> = {
  opened: 'opened it',
  escalated: 'escalated it',
  transitioned: 'changed it',
  noted: 'added a note',
  changed: 'set',
}

const words = (code: string) => code.replaceAll('_', ' ')

function readable(field: string, value: string): string {
  return field === 'due_at' ? formatTime(value) : value
}
