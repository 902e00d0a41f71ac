import { Table } from '@mantine/core'
import { formatNumber, formatPercent } from '../../parts/measures.ts'
import { SCROLLABLE } from '../../parts/scrollable.ts'
import type { UsageOfDay } from './days.ts'

interface DayTableProps {
  days: readonly UsageOfDay[]
  operations: readonly string[]
  cap: number | null
}

/** The numbers of the chart, newest day first. */
export function DayTable({ days, operations, cap }: DayTableProps) {
  const head = [...operations.map((name) => name.replaceAll('_', ' ')), 'All', 'Sum of the month']
  return (
    <Table.ScrollContainer minWidth={560} mah={420} type="native" {...SCROLLABLE}>
      <Table fz="sm" verticalSpacing={4} aria-label="Operations by day">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Day</Table.Th>
            {[...head, ...(cap === null ? [] : ['Of the cap'])].map((title) => (
              <Table.Th key={title} ta="right">
                {title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {days.toReversed().map(({ day, units, total, sum }) => (
            <Table.Tr key={day}>
              <Table.Th scope="row" fw={500}>
                {new Date(`${day}T00:00Z`).toLocaleDateString(undefined, { dateStyle: 'medium', timeZone: 'UTC' })}
              </Table.Th>
              {operations.map((operation) => (
                <Table.Td key={operation} ta="right">
                  {formatNumber(units[operation] ?? 0)}
                </Table.Td>
              ))}
              <Table.Td ta="right">{formatNumber(total)}</Table.Td>
              <Table.Td ta="right">{formatNumber(sum)}</Table.Td>
              {cap !== null && <Table.Td ta="right">{formatPercent(cap === 0 ? 1 : sum / cap)}</Table.Td>}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
