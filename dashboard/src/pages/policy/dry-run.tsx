// Which claims a policy would change: each with its state before and after. Nothing is changed. A run goes on page by page
// until the end, or until there are more claims than a person reads.

import type { RejudgedClaim, RiskPolicyDocument } from '@countersign/client'
import { Button, Group, Select, Stack, Table, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useClient } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { formatNumber } from '../../parts/measures.ts'
import { ReasonTags } from '../../parts/reason.tsx'
import { Id, Status } from '../../parts/values.tsx'
import { Part } from '../../recipe/detail-page.tsx'

const MAX_CHANGES = 500
const DAY_MS = 86_400_000
const PERIODS = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '', label: 'All claims' },
]

interface Report {
  changes: RejudgedClaim[]
  looked: number
  unknown: number
  hasMore: boolean
}

const NONE: Report = { changes: [], looked: 0, unknown: 0, hasMore: true }

export function DryRun({ document, isChanged }: { document: RiskPolicyDocument; isChanged: boolean }) {
  const client = useClient()
  const [days, setDays] = useState('30')
  const [report, setReport] = useState<{ of: string; report: Report }>()
  const stop = useRef<AbortController | undefined>(undefined)
  const of = JSON.stringify(document)
  const run = useMutation({
    mutationFn: async () => {
      const abort = new AbortController()
      stop.current = abort
      const createdGte = days === '' ? undefined : new Date(Date.now() - Number(days) * DAY_MS).toISOString()
      let cursor: string | undefined
      let report = NONE
      do {
        const page = await client.account.riskPolicy.dryRun(
          { document, createdGte, limit: MAX_CHANGES, cursor },
          { signal: abort.signal },
        )
        cursor = page.nextCursor ?? undefined
        report = {
          changes: [...report.changes, ...page.data],
          looked: report.looked + page.looked,
          unknown: report.unknown + page.unknown,
          hasMore: cursor !== undefined,
        }
        setReport({ of, report })
      } while (cursor !== undefined && report.changes.length < MAX_CHANGES && !abort.signal.aborted)
    },
  })
  const shown = report?.of === of ? report.report : undefined
  const wasStopped = stop.current?.signal.aborted === true
  return (
    <Part title="Dry run">
      <Stack gap="xs">
        <Group gap="xs" align="flex-end">
          <Select
            size="xs"
            w={140}
            label="Claims of the last"
            data={PERIODS}
            value={days}
            allowDeselect={false}
            onChange={(value) => setDays(value ?? '')}
          />
          <Button size="xs" variant="light" loading={run.isPending} disabled={!isChanged} onClick={() => run.mutate()}>
            Show which claims would change
          </Button>
          {run.isPending && (
            <Button size="xs" variant="default" onClick={() => stop.current?.abort()}>
              Stop
            </Button>
          )}
        </Group>
        {run.isError && !wasStopped && <Failed error={run.error} onRetry={() => run.mutate()} />}
        <Text size="sm" role="status">
          {shown === undefined
            ? isChanged
              ? ''
              : 'Change the policy to see what it would change.'
            : sentenceOf(shown)}
        </Text>
        {shown !== undefined && shown.changes.length > 0 && <Changes changes={shown.changes} />}
      </Stack>
    </Part>
  )
}

function sentenceOf({ changes, looked, unknown, hasMore }: Report): string {
  const rest = unknown === 0 ? '' : ` ${formatNumber(unknown)} can only be told by an evaluation.`
  const more = hasMore ? ' There are more.' : ''
  return `${formatNumber(changes.length)} of ${formatNumber(looked)} claims would change.${rest}${more}`
}

function Changes({ changes }: { changes: readonly RejudgedClaim[] }) {
  return (
    <Table.ScrollContainer minWidth={640} mah={420} type="native">
      <Table fz="sm" verticalSpacing={4} aria-label="Claims that would change">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Claim</Table.Th>
            <Table.Th>Now</Table.Th>
            <Table.Th>Then</Table.Th>
            <Table.Th>More factors</Table.Th>
            <Table.Th>Fewer factors</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changes.map(({ claimId, reference, before, after, ...codes }) => (
            <Table.Tr key={claimId}>
              <Table.Td>
                <Id id={claimId} /> {reference}
              </Table.Td>
              <Table.Td>
                <Status value={before.riskStatus} /> {formatNumber(before.riskScore)}
              </Table.Td>
              <Table.Td>
                <Status value={after.riskStatus} /> {formatNumber(after.riskScore)}
              </Table.Td>
              <Table.Td>
                <ReasonTags codes={[...codes.addedFactors, ...codes.addedAdvisories]} />
              </Table.Td>
              <Table.Td>
                <ReasonTags codes={[...codes.removedFactors, ...codes.removedAdvisories]} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
