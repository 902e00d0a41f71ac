// How long people took to decide, and how old the approvals of the period are by their state.

import type { ApprovalReport } from '@countersign/client'
import { Table, Text } from '@mantine/core'
import { formatNumber, formatSeconds, formatTime } from '../../parts/measures.ts'
import { Id, Time } from '../../parts/values.tsx'
import { Facts, Part } from '../../recipe/detail-page.tsx'

const STATES = ['pending', 'approved', 'denied', 'expired', 'cancelled'] as const

export function ApprovalAges({ report }: { report: ApprovalReport }) {
  const { from, to, ageClasses, secondsToDecide, oldestPending } = report
  const seconds = (value: number | null) => (value === null ? 'nobody has decided yet' : formatSeconds(value))
  return (
    <Part title="How long approvals wait">
      <Text size="sm" c="dimmed" mb="xs">
        Asked from {formatTime(from)} to {formatTime(to)}.
      </Text>
      <Facts
        facts={[
          ['Half are decided within', seconds(secondsToDecide.p50)],
          ['95 % are decided within', seconds(secondsToDecide.p95)],
          ['Waits the longest', <Id key="oldest" id={oldestPending?.approvalId} />],
          ['Since', <Time key="since" at={oldestPending?.askedAt} />],
        ]}
      />
      <Table.ScrollContainer
        minWidth={560}
        type="native"
        mt="sm"
        tabIndex={0}
        role="region"
        aria-label="Approvals by age"
      >
        <Table aria-label="Approvals by age" verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Age</Table.Th>
              {['all', ...STATES].map((state) => (
                <Table.Th key={state} ta="right">
                  {state}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {ageClasses.map(({ fromSeconds, toSeconds, total, byStatus }) => (
              <Table.Tr key={fromSeconds}>
                <Table.Td>
                  {toSeconds === null ? `over ${formatSeconds(fromSeconds)}` : `up to ${formatSeconds(toSeconds)}`}
                </Table.Td>
                {[total, ...STATES.map((state) => byStatus[state])].map((count, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: columns in a fixed order
                  <Table.Td key={index} ta="right">
                    {formatNumber(count)}
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Part>
  )
}
