// Both exclusion lists: which file is in force, how old it is, and the upload of another one.

import type { ExclusionList } from '@countersign/client'
import { Alert, Anchor, Group, SimpleGrid, Skeleton, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { addressOf } from '../../app/address.ts'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed, Forbidden } from '../../parts/failed.tsx'
import { Id, Nothing, Num, Status, Time } from '../../parts/values.tsx'
import { Facts } from '../../recipe/detail-page.tsx'
import type { Client } from '../../recipe/list-page.tsx'
import { Upload } from './upload.tsx'

const PERMISSION = 'prescribers.read'
const DAY_MS = 86_400_000

/** The two lists, with the age in days at which orders are refused. */
export const LISTS = {
  leie: {
    title: 'LEIE of the OIG',
    maxDays: 45,
    read: (client: Client) => client.clinical.exclusionLists.retrieveLeie(),
  },
  sam: { title: 'SAM of the GSA', maxDays: 7, read: (client: Client) => client.clinical.exclusionLists.retrieveSam() },
} as const
export type ListName = keyof typeof LISTS

const LINKS = [
  ['exclusion-reviews?status=open', 'Open reviews'],
  ['exclusion-imports', 'Imports'],
  ['exclusion-screenings', 'Screenings'],
] as const

export function Page() {
  const { may, environment } = useSession()
  if (!may(PERMISSION)) return <Forbidden permission={PERMISSION} />
  return (
    <Stack>
      <div>
        <Title order={1} size="h3">
          Exclusion lists
        </Title>
        <Text size="sm" c="dimmed" maw={720}>
          Prescribers and co-signers are compared with both lists at each decision.{' '}
          <a href="/docs/authorize/clinical#exclusion-lists">How to get the files</a>
        </Text>
      </div>
      <Group>
        {LINKS.map(([path, title]) => (
          <Anchor key={path} component={Link} {...addressOf(environment, path)} size="sm">
            {title}
          </Anchor>
        ))}
      </Group>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <One name="leie" />
        <One name="sam" />
      </SimpleGrid>
    </Stack>
  )
}

function One({ name }: { name: ListName }) {
  const { environment } = useSession()
  const client = useClient()
  const { title, read } = LISTS[name]
  const query = useQuery({ queryKey: ['exclusion-list', environment, name], queryFn: async () => read(client) })
  return (
    <Stack component="section" aria-label={title} gap="sm">
      <Title order={2} size="h5">
        {title}
      </Title>
      {query.isPending && <Skeleton role="status" aria-label="Loading" height={200} />}
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.data !== undefined && <State list={query.data} name={name} />}
      <Upload list={name} />
    </Stack>
  )
}

function State({ list, name }: { list: ExclusionList; name: ListName }) {
  const { maxDays } = LISTS[name]
  const age = list.listDate === null ? undefined : Math.floor((Date.now() - Date.parse(list.listDate)) / DAY_MS)
  return (
    <>
      {list.isStale && (
        <Alert color="red" title={age === undefined ? 'There is no list' : 'The list is outdated'}>
          Orders are refused, unless the clinical policy allows that. Upload a file.
        </Alert>
      )}
      <Facts
        facts={[
          ['State', <Status key="status" value={list.isStale ? 'outdated' : 'current'} />],
          ['Age', age === undefined ? <Nothing key="age" /> : `${age} of at most ${maxDays} days`],
          ['Date of the list', list.listDate ?? <Nothing key="date" />],
          ['Rows', <Num key="rows" value={list.rows} />],
          ['From', list.source ?? <Nothing key="source" />],
          ['Import', <Id key="import" id={list.exclusionImportId} />],
          ['In force since', <Time key="changed" at={list.changedAt} />],
        ]}
      />
    </>
  )
}
