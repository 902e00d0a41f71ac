// One decision: what was answered and why, what to do, the steps of verify, the results of rules, and the proof that the entry is
// in the ledger.

import type { Decision } from '@countersign/client'
import { Alert, Badge, Code, Table, Text } from '@mantine/core'
import { useReasons } from '../../parts/reason.tsx'
import { Id, Nothing, Status, Time } from '../../parts/values.tsx'
import { Detail, type DetailPage, Part } from '../../recipe/detail-page.tsx'
import { Explanation, RecordedFacts } from './explanation.tsx'
import { answerOf } from './kinds.ts'
import { LedgerProof } from './proof.tsx'

const page: DetailPage<Decision> = {
  kind: 'Decision',
  name: 'decisions',
  permission: 'decisions.read',
  listPath: 'decisions',
  retrieve: (client, id, signal) => client.decisions.retrieve(id, { signal }),
  titleOf: ({ entry }) => `Decision: ${entry.kind.replaceAll('_', ' ')}`,
  statusOf: ({ entry }) => answerOf(entry.valid),
  lead: (decision) => <Answer decision={decision} />,
  facts: (decision) => [
    ['At', <Time key="at" at={decision.entry.at} />],
    ['By', decision.actor.label ?? decision.actor.id ?? decision.actor.type],
    ...ids(decision).map(([name, id]) => [name, <Id key={name} id={id} />] as const),
    ['Agent session', decision.agentSessionId ?? <Nothing key="session" />],
    ['Device', decision.deviceId ?? <Nothing key="device" />],
    ['Rule', decision.entry.matched_rule_id ?? <Nothing key="rule" />],
    ['Version of the policy', decision.entry.policy_version ?? <Nothing key="policy" />],
  ],
  children: (decision) => (
    <>
      <Explanation decision={decision} />
      <RuleResults decision={decision} />
      <LedgerProof decision={decision} />
      <RecordedFacts decision={decision} />
    </>
  ),
}

export const Page = () => <Detail page={page} />

const ids = ({ subjectId, jti, agentId, mandateId, scheduleId, traceId }: Decision) =>
  (
    [
      ['About', subjectId],
      ['Token', jti],
      ['Agent', agentId],
      ['Mandate', mandateId],
      ['Schedule', scheduleId],
      ['Trace', traceId],
    ] as const
  ).filter(([, id]) => id !== null)

function Answer({ decision: { entry } }: { decision: Decision }) {
  const reasons = useReasons()
  if (entry.valid === null || entry.reason === null) {
    return entry.valid === true ? <Alert color="green" title="The action was allowed" /> : null
  }
  const reason = reasons.get(entry.reason)
  return (
    <Alert color={entry.valid ? 'yellow' : 'red'} title={entry.valid ? 'Allowed' : 'Why it was refused'}>
      <Text size="sm">
        <Code>{entry.reason}</Code>{' '}
        {reason?.meaning ?? 'This is a reason of a rule of your own policy, which says what it means.'}
      </Text>
      {reason !== undefined && (
        <Text size="sm" mt="xs">
          <b>What to do:</b> {reason.remedy}
        </Text>
      )}
    </Alert>
  )
}

function RuleResults({ decision: { entry } }: { decision: Decision }) {
  const { rule_results: results, rule_results_omitted: omitted = 0, matched_rule_id: matched } = entry
  if (results.length === 0) return null
  return (
    <Part title="Rules">
      <Table.ScrollContainer minWidth={420} type="native" tabIndex={0} role="region" aria-label="Rules">
        <Table aria-label="Rules" verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              {['Rule', 'Effect', 'Result', 'Note'].map((title) => (
                <Table.Th key={title}>{title}</Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {results.map(({ rule_id: id, effect, matched: applies, met, shadow, error, note }) => (
              <Table.Tr key={`${id} ${shadow}`}>
                <Table.Td>
                  <Code>{id}</Code>{' '}
                  {id === matched && !shadow && (
                    <Badge size="xs" variant="default">
                      answered
                    </Badge>
                  )}{' '}
                  {shadow && (
                    <Badge size="xs" variant="default">
                      shadow
                    </Badge>
                  )}
                </Table.Td>
                <Table.Td>{effect.replaceAll('_', ' ')}</Table.Td>
                <Table.Td>
                  <Status value={!applies ? 'does not apply' : met ? 'passed' : 'refused'} />
                </Table.Td>
                <Table.Td>{error ?? note ?? <Nothing />}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {omitted > 0 && <Text size="sm">{omitted} further results are not in the entry.</Text>}
    </Part>
  )
}
