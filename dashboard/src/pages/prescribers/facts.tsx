// What was checked about a prescriber. A second person confirms facts with a passkey: all that are entered, as they are shown.

import type { Prescriber, PrescriberFact } from '@countersign/client'
import { Skeleton, Stack, Table, Text, VisuallyHidden } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useClient, useSession } from '../../app/session.tsx'
import { Act } from '../../parts/act.tsx'
import { By } from '../../parts/by.tsx'
import { Failed } from '../../parts/failed.tsx'
import { More } from '../../parts/more.tsx'
import { signChallenge } from '../../parts/passkey.ts'
import { SCROLLABLE } from '../../parts/scrollable.ts'
import { Nothing, Status, Time } from '../../parts/values.tsx'
import { Part } from '../../recipe/detail-page.tsx'
import { EndFact } from './acts.tsx'

const PAGE_SIZE = 50
const MAX_AT_ONCE = 20

export function PrescriberFacts({ prescriber: { prescriberId, userId } }: { prescriber: Prescriber }) {
  const { environment, session } = useSession()
  const client = useClient()
  const query = useInfiniteQuery({
    queryKey: ['prescriber-facts', environment, prescriberId],
    queryFn: ({ pageParam }) =>
      client.clinical.facts.list(prescriberId, { limit: PAGE_SIZE, cursor: pageParam }).page(),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  })
  const facts = query.data?.pages.flatMap(({ data }) => data) ?? []
  const entered = facts
    .filter(({ status, enteredBy }) => status === 'entered' && enteredBy.id !== session.user.userId)
    .slice(0, MAX_AT_ONCE)
  return (
    <Part title="Facts">
      <Stack gap="xs" align="flex-start">
        {query.isError && <Failed error={query.error} onRetry={() => void query.refetch()} />}
        {query.isPending && <Skeleton height={60} />}
        {query.isSuccess && facts.length === 0 && <Text size="sm">Nothing was entered yet.</Text>}
        {facts.length > 0 && <FactTable facts={facts} />}
        <More query={query}>Older facts</More>
        {entered.length > 0 && userId !== session.user.userId && (
          <Confirm prescriberId={prescriberId} facts={entered} />
        )}
      </Stack>
    </Part>
  )
}

function FactTable({ facts }: { facts: readonly PrescriberFact[] }) {
  return (
    <Table.ScrollContainer minWidth={760} type="native" w="100%" {...SCROLLABLE}>
      <Table fz="sm" verticalSpacing={4} aria-label="Facts">
        <Table.Thead>
          <Table.Tr>
            {['Fact', 'State', 'Expires', 'Entered', 'Confirmed', 'Ended', ''].map((title) => (
              <Table.Th key={title}>{title === '' ? <VisuallyHidden>Actions</VisuallyHidden> : title}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {facts.map((fact) => (
            <Table.Tr key={fact.factId}>
              <Table.Td>
                {termsOf(fact)}
                {fact.warnings.length > 0 && ' (the second letter of the number is not the initial of the last name)'}
              </Table.Td>
              <Table.Td>
                <Status value={fact.status} />
              </Table.Td>
              <Table.Td>
                <Time at={fact.expiresAt} />
              </Table.Td>
              <Table.Td>
                <By actor={fact.enteredBy} />
              </Table.Td>
              <Table.Td>
                <By actor={fact.confirmedBy} />
              </Table.Td>
              <Table.Td>{fact.endedReason?.replaceAll('_', ' ') ?? <Nothing />}</Table.Td>
              <Table.Td>
                {(fact.status === 'entered' || fact.status === 'confirmed') && <EndFact fact={fact} />}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function termsOf({ kind, method, usState, number, schedules }: PrescriberFact): string {
  if (kind === 'identity') return `Identity: ${method?.replaceAll('_', ' ')}`
  if (kind === 'licence') return `Licence ${number} of ${usState}`
  return `DEA registration ${number} for ${schedules?.join(', ')}`
}

function Confirm({ prescriberId, facts }: { prescriberId: string; facts: readonly PrescriberFact[] }) {
  const factIds = facts.map(({ factId }) => factId)
  return (
    <Act
      title="Confirm with a passkey"
      permission="prescribers.confirm"
      name={`${prescriberId}.confirm`}
      about={
        <>
          You confirm that you have checked these facts, as the second person (21 CFR 1311.125):
          <ul>
            {facts.map((fact) => (
              <li key={fact.factId}>
                {termsOf(fact)}
                {fact.expiresAt !== null && `, until ${fact.expiresAt.slice(0, 10)}`}
              </li>
            ))}
          </ul>
        </>
      }
      send={async (client, _, options) => {
        const challenge = await client.clinical.factChallenges.create(prescriberId, { factIds })
        const passkeyAssertion = await signChallenge(challenge)
        return client.clinical.facts.confirm(prescriberId, { factIds, passkeyAssertion }, options)
      }}
    />
  )
}
