// What was spent under a mandate, by day (UTC), for the last 30 days: a bar for each day beside its numbers.

import { Progress, Skeleton, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Num } from '../../parts/values.tsx'
import { Part } from '../../recipe/detail-page.tsx'

export function Spend({ mandateId }: { mandateId: string }) {
  const client = useClient()
  const { environment } = useSession()
  const query = useQuery({
    queryKey: ['mandate-spend', environment, mandateId],
    queryFn: ({ signal }) => client.mandates.spend.retrieve(mandateId, {}, { signal }),
  })
  const days = query.data?.days.toReversed() ?? []
  const most = Math.max(...days.map((day) => Number(day.committed) + Number(day.reserved)))
  return (
    <Part title="Spent in the last 30 days">
      {query.isPending && <Skeleton height={48} maw={520} />}
      {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
      {query.isSuccess && days.length === 0 && (
        <Text size="sm" c="dimmed">
          Nothing was charged.
        </Text>
      )}
      {days.length > 0 && (
        <Table.ScrollContainer minWidth={560} type="native" tabIndex={0} role="region" aria-label="Spent by day">
          <Table aria-label="Spent by day" verticalSpacing={4}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Day (UTC)</Table.Th>
                {['Executions', 'Charged', 'Reserved', 'Given back'].map((title) => (
                  <Table.Th key={title} ta="right">
                    {title}
                  </Table.Th>
                ))}
                <Table.Td w={160} />
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {days.map(({ date, currency, executions, committed, reserved, released }) => (
                <Table.Tr key={`${date} ${currency}`}>
                  <Table.Td>{date}</Table.Td>
                  <Table.Td ta="right">
                    <Num value={executions} />
                  </Table.Td>
                  {[committed, reserved, released].map((amount, index) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: three columns in a fixed order
                    <Table.Td key={index} ta="right">
                      {amount} {currency}
                    </Table.Td>
                  ))}
                  <Table.Td>
                    <Progress
                      value={most > 0 ? ((Number(committed) + Number(reserved)) / most) * 100 : 0}
                      aria-hidden
                    />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Part>
  )
}
