// Somebody published while a draft was open: both are shown, and the person says which one goes on.

import type { RiskPolicy, RiskPolicyDocument } from '@countersign/client'
import { Alert, Button, Code, Group, Stack, Table, Text } from '@mantine/core'
import { formatNumber } from '../../parts/measures.ts'
import { Id, Time } from '../../parts/values.tsx'
import { type Difference, differencesOf } from './document.ts'

interface ComparisonProps {
  mine: RiskPolicyDocument | undefined
  /** The version that the draft began with. */
  base: string
  current: RiskPolicy
  onKeep(): void
  onTake(): void
}

export function Comparison({ mine, base, current, onKeep, onTake }: ComparisonProps) {
  const { version, changedAt, changedBy, document } = current
  return (
    <Alert color="yellow" title={`Version ${formatNumber(version)} was published meanwhile`} role="alert">
      <Stack gap="xs">
        <Text size="sm">
          <Time at={changedAt} /> by {changedBy?.label ?? <Id id={changedBy?.id} />}. Your draft began with version{' '}
          {base}, and is kept.
        </Text>
        <Differences mine="Your draft" theirs={`Version ${version}`} rows={differencesOf(mine, document)} />
        <Group gap="xs">
          <Button size="xs" variant="light" onClick={onKeep}>
            Keep my draft, on top of version {formatNumber(version)}
          </Button>
          <Button size="xs" variant="default" onClick={onTake}>
            Take version {formatNumber(version)}
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}

export function Differences({ mine, theirs, rows }: { mine: string; theirs: string; rows: readonly Difference[] }) {
  if (rows.length === 0) return <Text size="sm">They say the same.</Text>
  return (
    <Table fz="sm" verticalSpacing={2} aria-label="Differences">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Member</Table.Th>
          <Table.Th>{mine}</Table.Th>
          <Table.Th>{theirs}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr key={row.name}>
            <Table.Th scope="row" fw={500}>
              {row.name}
            </Table.Th>
            <Table.Td>
              <Code>{row.mine}</Code>
            </Table.Td>
            <Table.Td>
              <Code>{row.theirs}</Code>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
