// That the entry is in the ledger: checked in this browser from the entry as it is shown, the proof of its place, and a checkpoint
// that the service signed.

import { CountersignError, type Decision } from '@countersign/client'
import { type RecordKeys, verifyCheckpoint, verifyInclusion } from '@countersign/client/verify'
import { Alert, Button, Code, Skeleton, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useClient, useSession } from '../../app/session.tsx'
import { Failed } from '../../parts/failed.tsx'
import { formatNumber, formatTime } from '../../parts/measures.ts'
import { Part } from '../../recipe/detail-page.tsx'

type Entry = Parameters<typeof verifyInclusion>[0]

export function LedgerProof({ decision: { decisionId, entry } }: { decision: Decision }) {
  const { session, environment } = useSession()
  const client = useClient()
  const query = useQuery({
    queryKey: ['decision-proof', environment, decisionId],
    queryFn: async ({ signal }) => {
      const [proof, keys] = await Promise.all([
        client.decisions.proof.retrieve(decisionId, {}, { signal }),
        readKeys(signal),
      ])
      const { checkpoint } = proof
      if (checkpoint === null) return { proof, problem: 'no_checkpoint' as const, at: null, revoked: null }
      const [verdict, signed] = await Promise.all([
        verifyInclusion(entry as unknown as Entry, proof, checkpoint, keys),
        verifyCheckpoint(checkpoint.jws, keys),
      ])
      const isOwn = signed.isValid && signed.claims.account_id === session.account.accountId
      const problem = verdict.problem ?? (isOwn ? null : ('other_account' as const))
      return { proof, problem, at: verdict.at, revoked: verdict.revoked }
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <Part title="Ledger">
      {query.isPending && <Skeleton height={48} maw={520} />}
      {query.isError &&
        (query.error instanceof CountersignError && query.error.code === 'not_ready' ? (
          <Alert role="status" title="Not signed yet">
            <Text size="sm" mb="xs">
              {query.error.detail}
            </Text>
            <Button size="xs" variant="default" loading={query.isFetching} onClick={() => void query.refetch()}>
              Check again
            </Button>
          </Alert>
        ) : (
          <Failed error={query.error} onRetry={() => void query.refetch()} />
        ))}
      {query.isSuccess && query.data.problem !== null && (
        <Alert color="red" role="alert" title="The entry is not proved">
          The proof does not hold: <Code>{query.data.problem}</Code>. Keep this page and tell the operator of the
          service.
        </Alert>
      )}
      {query.isSuccess && query.data.problem === null && (
        <Alert color="green" role="status" title="The entry is in the ledger: checked in this browser">
          <Text size="sm">
            It is entry {formatNumber(query.data.proof.position + 1)} of {formatNumber(query.data.proof.size)} that a
            checkpoint signed {formatTime(query.data.at ?? '')}.
            {query.data.revoked !== null &&
              ` Its key was revoked later: signatures from ${formatTime(query.data.revoked.doubted_since)} on are doubted.`}
          </Text>
          <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            Root {query.data.proof.root}
          </Text>
        </Alert>
      )}
    </Part>
  )
}

/** The published keys of the service. @throws {Error} */
async function readKeys(signal: AbortSignal): Promise<RecordKeys> {
  const answer = await fetch('/.well-known/jwks.json', { signal })
  if (!answer.ok) throw new Error(`The key set of the service answered ${answer.status}.`)
  return (await answer.json()) as RecordKeys
}
