// What each role may do, as the service publishes it.

import type { RoleEntry } from '@countersign/client'
import { Skeleton, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed, Forbidden } from '../../parts/failed.tsx'
import { SCROLLABLE } from '../../parts/scrollable.ts'
import { Nothing } from '../../parts/values.tsx'

export function Page() {
  const { may } = useSession()
  return may('team.read') ? <Shown /> : <Forbidden permission="team.read" />
}

function Shown() {
  const client = useClient()
  const { session } = useSession()
  const query = useQuery({
    queryKey: ['roles'],
    queryFn: async () => (await client.overview.roles.list().page()).data,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Stack>
      <div>
        <Title order={1} size="h3">
          Roles
        </Title>
        <Text size="sm" c="dimmed">
          Your role is {session.role}. Roles other than owner take the plan enterprise.
        </Text>
      </div>
      {query.isPending && (
        <Stack role="status" aria-label="Loading">
          <Skeleton height={320} />
        </Stack>
      )}
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.data !== undefined && <Permissions roles={query.data} />}
    </Stack>
  )
}

function Permissions({ roles }: { roles: readonly RoleEntry[] }) {
  const allows = new Map(roles.flatMap(({ permissions }) => permissions.map((one) => [one.permission, one.allows])))
  return (
    <Table.ScrollContainer minWidth={640} type="native" {...SCROLLABLE}>
      <Table fz="sm" verticalSpacing={4} aria-label="Permissions by role">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>May</Table.Th>
            {roles.map(({ role }) => (
              <Table.Th key={role}>{role}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {[...allows].map(([permission, sentence]) => (
            <Table.Tr key={permission}>
              <Table.Th scope="row" fw={400} title={permission}>
                {sentence}
              </Table.Th>
              {roles.map((entry) => (
                <Table.Td key={entry.role}>{reachOf(entry, permission) ?? <Nothing />}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

/** Where a role has a permission; undefined: nowhere. */
function reachOf({ permissions }: RoleEntry, name: string): string | undefined {
  const environments = permissions.find(({ permission }) => permission === name)?.environments
  if (environments === undefined) return undefined
  return environments.includes('live') ? 'yes' : environments.join(', ')
}
