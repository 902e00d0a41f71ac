// Why: the decision repeated from its recorded facts, step by step in the published order. Reading facts is on record, so that the
// page asks once.

import type { Decision } from '@countersign/client'
import { Alert, Badge, Button, Code, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { useReasons } from '../../parts/reason.tsx'
import { Tree } from '../../parts/verbatim.tsx'
import { Part } from '../../recipe/detail-page.tsx'

const PERMISSION = 'decisions.facts'

/** What the repetition of an authorization or a verification has, among other members. */
interface Replay {
  reason: string | null
  detail: string
  steps?: { reasons: string[]; result: string }[]
}

function useExplanation({ decisionId }: Decision) {
  const { environment, may } = useSession()
  const client = useClient()
  return useQuery({
    queryKey: ['explanation', environment, decisionId],
    queryFn: ({ signal }) => client.decisions.explain(decisionId, { signal }),
    enabled: may(PERMISSION),
    staleTime: Number.POSITIVE_INFINITY,
  })
}

export function Explanation({ decision }: { decision: Decision }) {
  const { may } = useSession()
  const query = useExplanation(decision)
  if (!may(PERMISSION)) {
    return (
      <Text size="sm" c="dimmed">
        The steps and the facts take the permission <Code>{PERMISSION}</Code>.
      </Text>
    )
  }
  if (query.isPending) return <Skeleton height={240} />
  if (query.isError) return <Failed error={query.error} onRetry={() => void query.refetch()} />
  const { meaning, factsStatus, entryIntact, sameAnswer, differences } = query.data
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
    </>
  )
}

/** What was known when it was decided; parts of it are texts of agents. */
export function RecordedFacts({ decision }: { decision: Decision }) {
  const { data } = useExplanation(decision)
  const [isShown, { toggle }] = useDisclosure()
  if (data === undefined || data.facts === null) return null
  return (
    <div className={isShown ? undefined : 'no-print'}>
      <Button variant="subtle" size="xs" onClick={toggle} aria-expanded={isShown}>
        {isShown ? 'Hide the facts' : 'Show the facts'}
      </Button>
      {isShown && (
        <Text component="div" size="sm" role="group" aria-label="Facts">
          <Tree value={data.facts} />
        </Text>
      )}
    </div>
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
              <Group gap="xs" align="baseline" wrap="nowrap">
                <Badge color={color} variant="dot" tt="none" w={120} flex="none">
                  {word}
                </Badge>
                <Text size="sm" fw={isHere ? 700 : undefined} c={result === 'not_reached' ? 'dimmed' : undefined}>
                  {reasons.map((code) => (code === 'policy' ? 'the rules of the policy' : code)).join(', ')}
                </Text>
              </Group>
              {isHere && (
                <Text size="sm" pl={130}>
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
