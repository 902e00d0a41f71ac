// Why: the decision repeated from its recorded facts, step by step in the published order. Reading facts is on record, so that the
// page asks once.

import type { Decision } from '@countersign/client'
import { Alert, Badge, Code, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { Value } from '../../parts/finding.tsx'
import { useReasons } from '../../parts/reason.tsx'
import { Part } from '../../recipe/detail-page.tsx'

const PERMISSION = 'decisions.facts'

/** What the repetition of an authorization or a verification has, among other members. */
interface Replay {
  reason: string | null
  detail: string
  steps?: { reasons: string[]; result: string }[]
}

export function Explanation({ decision }: { decision: Decision }) {
  const { environment, may } = useSession()
  const client = useClient()
  const { decisionId } = decision
  const query = useQuery({
    queryKey: ['explanation', environment, decisionId],
    queryFn: ({ signal }) => client.decisions.explain(decisionId, { signal }),
    enabled: may(PERMISSION),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (!may(PERMISSION)) {
    return (
      <Text size="sm" c="dimmed">
        The steps and the facts take the permission <Code>{PERMISSION}</Code>.
      </Text>
    )
  }
  if (query.isPending) return <Skeleton height={240} />
  if (query.isError) return <Failed error={query.error} onRetry={() => void query.refetch()} />
  const { meaning, factsStatus, facts, entryIntact, sameAnswer, differences } = query.data
  const replay = query.data.replay as Replay | null
  return (
    <>
      {(!entryIntact || factsStatus === 'changed') && (
        <Alert color="red" role="alert" title="The entry or its facts were changed afterwards" />
      )}
      <Part title="What was recorded">
        <Text size="sm">This entry says that {meaning}.</Text>
        {replay !== null && (
          <Text size="sm">
            {sameAnswer === true
              ? 'The recorded facts lead to the same answer again.'
              : `The recorded facts lead to another answer: ${differences.join(', ')} differ.`}
          </Text>
        )}
      </Part>
      {replay?.steps !== undefined && <Steps replay={replay} steps={replay.steps} />}
      {facts !== null && (
        <Part title="Facts">
          <Text component="div" size="sm" style={{ overflowWrap: 'anywhere' }}>
            <Value value={facts} />
          </Text>
        </Part>
      )}
    </>
  )
}

const RESULTS: Record<string, readonly [word: string, color: string]> = {
  passed: ['passed', 'green'],
  refused: ['refused here', 'red'],
  not_reached: ['not reached', 'gray'],
}

function Steps({ replay, steps }: { replay: Replay; steps: NonNullable<Replay['steps']> }) {
  const meanings = useReasons()
  return (
    <Part title="Steps in their order">
      <Stack component="ol" gap={4} m={0} pl={0} style={{ listStyle: 'none' }}>
        {steps.map(({ reasons, result }) => {
          const [word, color] = RESULTS[result] ?? [result, 'gray']
          const isHere = result === 'refused'
          const shown = isHere && replay.reason !== null ? replay.reason : reasons[0]
          return (
            <li key={reasons.join()} style={{ breakInside: 'avoid' }}>
              <Group gap="xs" align="baseline">
                <Badge color={color} variant="dot" tt="none" miw={110}>
                  {word}
                </Badge>
                <Text size="sm" fw={isHere ? 700 : undefined} c={result === 'not_reached' ? 'dimmed' : undefined}>
                  {reasons.map((code) => (code === 'policy' ? 'the rules of the policy' : code)).join(', ')}
                </Text>
              </Group>
              {isHere && (
                <Text size="sm" pl={122}>
                  {meanings.get(shown ?? '')?.meaning ?? replay.detail}
                </Text>
              )}
            </li>
          )
        })}
      </Stack>
    </Part>
  )
}
